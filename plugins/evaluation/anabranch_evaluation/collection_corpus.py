"""A corpus for each collection, kept beside the others so that an unchanged collection is not embedded again."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anabranch.chunking.hierarchical_chunker import DEFAULT_SIZES, Sizes
from anabranch.errors import CollectionError, CorpusEmptyError
from anabranch.ingestion.ingest_report import IngestReport
from anabranch.ingestion.pipeline import ingest
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder
from anabranch.store.maintenance import Listed, documents, overview
from anabranch.store.writer_protocol import Progress, silent
from anabranch_evaluation.collection import Collection, checked_against, with_evidence

MAX_NAMED = 3
_UNSAFE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A collection that can be searched: its corpus, and how many documents and which embedder that has."""

    collection: Collection
    corpus: Path
    documents: int
    embedder: str


def prepare(
    collection: Collection,
    home: Path,
    *,
    embedder: str = "",
    base_url: str | None = None,
    sizes: Sizes | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> Prepared:
    """Bring the corpus of a collection, in the folder `home`, up to date; compare its documents with the judgements.

    What else is given is as in `ingest`; with `fresh` the corpus is made anew, whatever is there.

    Raises:
        CollectionError: It has no documents, or its judgements are of others.
        KeyboardInterrupt: Ctrl-C; the next run goes on from there.
        AnabranchError: As in `ingest`.
    """
    if not collection.sources:
        msg = f"There is no corpus.jsonl in {collection.folder}."
        raise CollectionError(msg, hint="Add it, or name the corpus that holds the documents with --corpus.")
    model = load_embedder(embedder or DEFAULT_EMBEDDER, base_url)
    folder = home / _name(collection, model.name, sizes or DEFAULT_SIZES)
    # An embedder that was replaced under its name, or a reader that reads better, is no change of a file.
    if fresh and folder.exists():
        shutil.rmtree(folder)
    paths = list(collection.sources)
    report = ingest(paths, folder, embedder=embedder, base_url=base_url, sizes=sizes, progress=progress)
    # Half a corpus would be measured as if the rest could not be found.
    if report.interrupted:
        raise KeyboardInterrupt
    return opened(collection, folder, remarks=_remarks(report))


def opened(collection: Collection, corpus: Path, *, remarks: tuple[str, ...] = ()) -> Prepared:
    """Compare the documents of a corpus that is there with the judgements of a collection.

    Raises:
        CorpusEmptyError: It holds no document.
        CollectionError: The judgements know none of its documents.
        CorpusNotFoundError: There is no corpus there.
    """
    # From the database and not from the files: a line that could not be taken in cannot be found either.
    listed = list(documents(corpus))
    if not listed:
        why = f" {'; '.join(remarks)}." if remarks else ""
        raise CorpusEmptyError(f"The corpus at {corpus} holds no document.{why}", hint="Give it documents with text.")
    collection = replace(collection, remarks=(*remarks, *_surprises(listed), *collection.remarks))
    if collection.evidence:
        collection = with_evidence(collection, corpus)
    else:
        collection = checked_against(collection, {document.key for document in listed})
    return Prepared(collection, corpus, len(listed), overview(corpus).embedder)


def _surprises(listed: Sequence[Listed]) -> Iterator[str]:
    """Yield what would make scores lower than they look."""
    # A corpus of one's own may hold the same id in two files.
    twice = [key for key, count in Counter(document.key for document in listed).items() if count > 1]
    if twice:
        yield f"ids that name several documents: {len(twice)}, such as {twice[0]!r}; the best of them counts"
    restricted = sum(bool(document.access) for document in listed)
    if restricted:
        yield f"documents with access tags: {restricted}; without --set access=... they count as not found"


def _name(collection: Collection, embedder: str, sizes: Sizes) -> str:
    """Name a corpus by what it is made of: another embedder, or a folder of the same name, has one of its own."""
    parts = [str(collection.folder.resolve()), embedder, *map(str, sizes)]
    # The name of a folder need not be valid Unicode.
    digest = hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"{_UNSAFE.sub('-', collection.name)}-{digest}"


def _remarks(report: IngestReport) -> tuple[str, ...]:
    failed = [row for row in report.rows if row.status == "failed"]
    if not failed:
        return ()
    named = ", ".join(f"{row.source}: {row.reason}" for row in failed[:MAX_NAMED])
    return (
        f"documents that could not be taken in: {len(failed)} ({named}{', ...' if len(failed) > MAX_NAMED else ''})",
    )
