"""A cached corpus for each collection, so that an unchanged collection is not embedded again."""

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
from anabranch_evaluation.collection import Collection, check_judgements, judge_by_evidence
from anabranch_evaluation.span_evidence import SpanEvidence, with_spans

MAX_NAMED = 3
_UNSAFE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A searchable collection: its corpus, the number of documents, and the embedder.

    With `spans` its passages are judged by the characters of the evidence.
    """

    collection: Collection
    corpus: Path
    documents: int
    embedder: str
    spans: SpanEvidence | None = None

    @property
    def is_by_passage(self) -> bool:
        """Whether passages are judged, and not documents."""
        return bool(self.collection.evidence) or self.spans is not None


def prepare(
    collection: Collection,
    home: Path,
    *,
    embedder: str = "",
    base_url: str | None = None,
    sizes: Sizes | None = None,
    fresh: bool = False,
    by_spans: bool = False,
    progress: Progress = silent,
) -> Prepared:
    """Update the corpus of a collection in the folder `home`, and compare its documents with the judgements.

    With `fresh` the corpus is deleted first; `by_spans` judges passages by the `references` of the queries. The other
    arguments are those of `ingest`.

    Raises:
        CollectionError: It has no documents, or its judgements name others.
        KeyboardInterrupt: Ctrl-C was pressed; the next run goes on from there.
        AnabranchError: As in `ingest`.
    """
    if not collection.sources:
        msg = f"There is no corpus.jsonl in {collection.folder}."
        raise CollectionError(msg, hint="Add it, or name the corpus that holds the documents with --corpus.")
    embedder = embedder or DEFAULT_EMBEDDER
    model = load_embedder(embedder, base_url, progress)
    folder = home / _name(collection, model.name, sizes or DEFAULT_SIZES)
    # Ingest notices changed files, but not a changed embedder of the same name, or a changed reader.
    if fresh and folder.exists():
        shutil.rmtree(folder)
    paths = list(collection.sources)
    report = ingest(paths, folder, embedder=embedder, base_url=base_url, sizes=sizes, progress=progress)
    # With half a corpus, the other documents would count as not found.
    if report.interrupted:
        raise KeyboardInterrupt
    return open_prepared(collection, folder, by_spans=by_spans, remarks=_remarks(report))


def open_prepared(
    collection: Collection, corpus: Path, *, by_spans: bool = False, remarks: tuple[str, ...] = ()
) -> Prepared:
    """Compare the documents of an existing corpus with the judgements of a collection.

    Raises:
        CorpusEmptyError: The corpus holds no document.
        CollectionError: The judgements know none of its documents.
        CorpusNotFoundError: There is no corpus there.
    """
    # From the database, not from the files: a line that was not ingested cannot be found.
    listed = list(documents(corpus))
    if not listed:
        why = f" {'; '.join(remarks)}." if remarks else ""
        raise CorpusEmptyError(f"The corpus at {corpus} holds no document.{why}", hint="Give it documents with text.")
    collection = replace(collection, remarks=(*remarks, *_find_surprises(listed), *collection.remarks))
    if collection.evidence:
        collection = judge_by_evidence(collection, corpus)
    else:
        collection = check_judgements(collection, {document.key for document in listed})
    spans = None
    if by_spans:
        collection, spans = with_spans(collection, corpus)
    return Prepared(collection, corpus, len(listed), overview(corpus).embedder, spans)


def _find_surprises(listed: Sequence[Listed]) -> Iterator[str]:
    """Yield remarks on documents that lower the scores."""
    # A user's corpus may hold the same id in two files.
    twice = [key for key, count in Counter(document.key for document in listed).items() if count > 1]
    if twice:
        yield f"ids that name several documents: {len(twice)}, such as {twice[0]!r}; the best of them counts"
    restricted = sum(bool(document.access) for document in listed)
    if restricted:
        yield f"documents with access tags: {restricted}; without --set access=... they count as not found"


def _name(collection: Collection, embedder: str, sizes: Sizes) -> str:
    """Name a corpus by the folder of its documents, embedder and sizes, so that each combination has its own."""
    folder = collection.corpus.parent if collection.corpus is not None else collection.folder.resolve()
    parts = [str(folder), embedder, *map(str, sizes)]
    # The name of a folder need not be valid Unicode.
    digest = hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"{_UNSAFE.sub('-', folder.name)}-{digest}"


def _remarks(report: IngestReport) -> tuple[str, ...]:
    failed = [row for row in report.rows if row.status == "failed"]
    if not failed:
        return ()
    named = ", ".join(f"{row.source}: {row.reason}" for row in failed[:MAX_NAMED])
    return (
        f"documents that could not be taken in: {len(failed)} ({named}{', ...' if len(failed) > MAX_NAMED else ''})",
    )
