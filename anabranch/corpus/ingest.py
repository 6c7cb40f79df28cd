"""From files to a corpus: add, update and remove exactly what changed.

Each document is one transaction; the indexes are made afterwards from what is committed. Whatever stops the run (a bad
file, Ctrl-C, a kill), what was committed stays and the corpus opens.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from anabranch.corpus.document import Document
from anabranch.corpus.generation import build, out_of_date
from anabranch.corpus.lock import writing
from anabranch.corpus.reading import read
from anabranch.corpus.reading.failure import Failure
from anabranch.corpus.tree import grow
from anabranch.corpus.truth import Grown, Truth, content_digest, digest_of
from anabranch.corpus.walking import Found, walk
from anabranch.errors import EmbedderMismatchError, ReadingError, SettingsError
from anabranch.models.embedders import load_embedder, settled_spec
from anabranch.models.embedding import Embedder

Status = Literal["added", "updated", "unchanged", "removed", "skipped", "failed"]

SIZES = (2048, 512, 128)
"""Tokens of a root, a middle and a leaf."""

PENDING_LEAVES = 512
"""Leaves embedded together: enough to sort by length, few enough to lose little and to bound memory."""


class Progress(Protocol):
    """Told how far a run is: stage is 'files', 'passages' or 'index'."""

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None:
        """Show it."""
        ...


@dataclass(frozen=True, slots=True)
class FileRow:
    """What became of one file (or of one unreadable line of a JSONL file)."""

    source: str
    status: Status
    reason: str = ""
    documents: int = 0
    chunks: int = 0
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class IngestReport:
    """What a run did; `rows` in the order of the files, removals last."""

    rows: list[FileRow] = field(default_factory=list)
    seconds: float = 0.0
    embedded: int = 0
    interrupted: bool = False

    def count(self, status: Status) -> int:
        """Return how many files have that status."""
        return sum(row.status == status for row in self.rows)


def ingest(
    paths: Sequence[Path],
    corpus: Path,
    *,
    embedder: str = "",
    base_url: str | None = None,
    sizes: tuple[int, int, int] | None = None,
    access: Sequence[str] = (),
    prune: bool = True,
    progress: Progress | None = None,
) -> IngestReport:
    """Take files and folders into a corpus, creating it where it is missing.

    Args:
        paths: Files, and folders to walk.
        corpus: Folder of the corpus.
        embedder: How to embed (see `load_embedder`); empty for what the corpus was made with, 'minilm' for a new one.
        base_url: OpenAI-compatible server of an 'openai:' embedder.
        sizes: Tokens of root, middle and leaf; None for what the corpus was made with, 2048/512/128 for a new one.
        access: Access tags of every document taken in; empty for documents that everybody may read.
        prune: Remove documents whose file is gone from the folders given.
        progress: Told how far it is.

    Raises:
        UserError: A path does not exist, or the embedder or the sizes are not those of the corpus.
        CorpusLockedError: Another process is writing.
    """
    began = time.perf_counter()
    paths = [Path(path) for path in paths]
    found = list(walk(paths, skip=(corpus,)))
    corpus.mkdir(parents=True, exist_ok=True)
    with writing(corpus):
        run = _Run(corpus, embedder, base_url, sizes, tuple(sorted(access)), progress)
        try:
            run.take(found)
            if prune:
                run.prune([path.resolve() for path in paths if path.is_dir()], found)
        except KeyboardInterrupt:
            run.report.interrupted = True
        finally:
            run.finish()
    run.report.seconds = time.perf_counter() - began
    return run.report


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:  # the protocol names them
    """Show nothing."""


class _Run:
    """One run over one corpus."""

    def __init__(
        self,
        corpus: Path,
        spec: str,
        base_url: str | None,
        sizes: tuple[int, int, int] | None,
        access: tuple[str, ...],
        progress: Progress | None,
    ) -> None:
        self.corpus = corpus
        self.report = IngestReport()
        self.truth = Truth(corpus)
        self.access = access
        self._progress: Progress = progress if progress is not None else _silent
        try:
            self.embedder, self.sizes = _settle(self.truth, spec, base_url, sizes)
        except BaseException:
            self.truth.close()
            raise

    def take(self, found: Sequence[Found]) -> None:
        for number, file in enumerate(found):
            self._progress("files", number, len(found), file.source)
            self._file(file)
        self._progress("files", len(found), len(found), "")

    def _file(self, file: Found) -> None:
        path = str(file.path.resolve())
        try:
            digest = _file_digest(file.path, self.access)
            known = self.truth.one("SELECT sha256, source FROM files WHERE path = ?", path)
            if known is not None and known[0] == digest:
                self._row(known[1], "unchanged", path=path)
                return
            self._read(file, path, digest, known is not None)
        except ReadingError as error:
            status: Status = "skipped" if error.reason == "unsupported" else "failed"
            self.report.rows.append(FileRow(file.source, status, f"{error.reason}: {error.message}"))
        except OSError as error:
            self.report.rows.append(FileRow(file.source, "failed", f"unreadable: {error.strerror or error}"))

    def _read(self, file: Found, path: str, digest: str, known: bool) -> None:
        """Take in what one file holds; documents it held before and does not hold now are removed."""
        notes: list[str] = []
        kept: set[str] = set()
        changed = 0
        for batch in self._batches(file, path, notes, kept):
            self._embed(batch)
            for grown in batch:
                self.truth.write(grown)
                changed += 1
        gone = [row[0] for row in self.truth.connection.execute("SELECT doc_id FROM documents WHERE path = ?", (path,))]
        for doc_id in gone:
            if doc_id not in kept:
                self.truth.remove("doc_id = ?", doc_id)
                changed += 1
        self.truth.connection.execute(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (path, str(file.path.parent.resolve()), file.source, digest, *_size_and_time(file.path),
             json.dumps(self.access), json.dumps(notes)),
        )  # fmt: skip
        status: Status = ("updated" if changed else "unchanged") if known else "added"
        self._row(file.source, status, path=path, notes=tuple(notes))

    def _batches(self, file: Found, path: str, notes: list[str], kept: set[str]) -> Iterator[list[Grown]]:
        """Yield documents that changed, with their trees, a few hundred leaves at a time."""
        batch: list[Grown] = []
        leaves = 0
        for item in read(file.path, file.source):
            if isinstance(item, Failure):
                self.report.rows.append(FileRow(item.source, "failed", f"{item.reason}: {item.message}"))
                continue
            document = self._named(replace(item, access=tuple(sorted({*item.access, *self.access}))), path)
            notes += [note for note in document.notes if note not in notes]
            doc_id = digest_of(document.source)
            digest = content_digest(document)
            if doc_id in kept:
                reason = f"broken: the id {document.source!r} occurs twice; the first one counts"
                self.report.rows.append(FileRow(document.source, "failed", reason))
                continue
            kept.add(doc_id)
            if self.truth.one(
                "SELECT 1 FROM documents WHERE doc_id = ? AND digest = ? AND path = ?", doc_id, digest, path
            ):
                continue
            batch.append(Grown(document, grow(document, self.embedder, self.sizes), digest, path))
            leaves += len(batch[-1].leaves)
            if leaves >= PENDING_LEAVES:
                yield batch
                batch, leaves = [], 0
        if batch:
            yield batch

    def _named(self, document: Document, path: str) -> Document:
        """Keep two files of the same name apart: the later one takes its folders in front of its name."""
        taken = self.truth.one("SELECT path FROM documents WHERE source = ?", document.source)
        if taken is None or taken[0] == path or not Path(taken[0]).exists():
            return document
        name = Path(path).parent.name or "files"
        source = f"{name}/{document.source}"
        while (taken := self.truth.one("SELECT path FROM documents WHERE source = ?", source)) and taken[0] != path:
            source = f"{digest_of(path)[:6]}/{source}"
        return replace(document, source=source, key=source if document.key == document.source else document.key)

    def _embed(self, batch: Sequence[Grown]) -> None:
        texts = [text for grown in batch for text in grown.leaves]
        missing = self.truth.missing_vectors(texts, self.embedder.name)
        keys = list(missing)
        for start in range(0, len(keys), PENDING_LEAVES):
            part = keys[start : start + PENDING_LEAVES]
            self.truth.add_vectors(part, self.embedder.embed([missing[key] for key in part]), self.embedder.name)
            self.report.embedded += len(part)
            self._progress("passages", self.report.embedded, 0, batch[0].document.source)

    def _row(self, source: str, status: Status, *, path: str, notes: tuple[str, ...] = ()) -> None:
        sql = (
            "SELECT count(DISTINCT d.doc_id), count(c.chunk_id) FROM documents d LEFT JOIN chunks c USING (doc_id) "
            "WHERE d.path = ?"
        )
        documents, chunks = self.truth.one(sql, path)
        self.report.rows.append(FileRow(source, status, "", documents, chunks, notes))

    def prune(self, roots: Sequence[Path], found: Sequence[Found]) -> None:
        """Remove documents of files that were under these folders and are gone."""
        here = {str(file.path.resolve()) for file in found}
        known = self.truth.connection.execute("SELECT path, source FROM files").fetchall()
        for path, source in known:
            if path not in here and any(Path(path).is_relative_to(root) for root in roots):
                documents = self.truth.remove("path = ?", path)
                self.truth.connection.execute("DELETE FROM files WHERE path = ?", (path,))
                self.report.rows.append(FileRow(source, "removed", "the file is gone", documents))

    def finish(self) -> None:
        """Make the indexes anew if a document changed, and close."""
        try:
            if out_of_date(self.corpus, self.truth):
                build(
                    self.corpus,
                    self.truth,
                    dimension=self.embedder.dimension,
                    progress=lambda done, total: self._progress("index", done, total),
                )
        finally:
            self.truth.close()


def _settle(
    truth: Truth, spec: str, base_url: str | None, sizes: tuple[int, int, int] | None
) -> tuple[Embedder, tuple[int, int, int]]:
    """Return the embedder and the sizes of this corpus; the first run decides them.

    Raises:
        EmbedderMismatchError: Another embedder was asked for than the corpus was made with.
        SettingsError: Other sizes were asked for.
    """
    known_spec, known_sizes = truth.meta("spec"), truth.meta("sizes")
    (documents,) = truth.one("SELECT count(*) FROM documents")
    embedder = load_embedder(spec or known_spec or "minilm", base_url or truth.meta("base_url") or None)
    chosen = sizes or (tuple(json.loads(known_sizes)) if known_sizes else SIZES)
    if documents and truth.meta("embedder") != embedder.name:
        msg = f"The corpus was made with the embedder {truth.meta('embedder')!r}, not {embedder.name!r}."
        hint = f"Leave --embedder out, or embed it anew: anabranch corpus rebuild --embedder {spec or embedder.name}"
        raise EmbedderMismatchError(msg, hint=hint)
    if documents and known_sizes and list(chosen) != json.loads(known_sizes):
        msg = f"The corpus was cut into chunks of {known_sizes}, not {list(chosen)}."
        raise SettingsError(msg, hint="Leave the sizes out, or ingest into a new corpus.")
    with truth.transaction():
        truth.set_meta("embedder", embedder.name)
        truth.set_meta("spec", settled_spec(spec or known_spec or "minilm"))
        truth.set_meta("base_url", base_url or truth.meta("base_url") or "")
        truth.set_meta("sizes", json.dumps(chosen))
        truth.set_meta("language", truth.meta("language") or "english")
    root, middle, leaf = chosen
    return embedder, (root, middle, leaf)


def _file_digest(path: Path, access: Sequence[str]) -> str:
    """Name the bytes of a file and the tags it is taken in with; a change of either is a change."""
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    return hashlib.sha256(f"{content}\0{json.dumps(list(access))}".encode()).hexdigest()


def _size_and_time(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_size, facts.st_mtime_ns
