"""Takes files into the database: reads, cuts, embeds and commits them, a few at a time.

Documents wait until there are enough leaves to embed together, across files; then they are committed in one
transaction with the records of the files that are finished by them, so that a file counts as taken in exactly when all
its documents are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from anabranch.corpus.document import Document
from anabranch.corpus.reading import read
from anabranch.corpus.reading.failure import Failure
from anabranch.corpus.report import FileRow, IngestReport, Progress, Status
from anabranch.corpus.rows import Grown, content_digest, digest_of
from anabranch.corpus.tree import Sizes, grow
from anabranch.corpus.truth import FileRecord, Truth
from anabranch.corpus.walking import Found
from anabranch.errors import ReadingError
from anabranch.models.embedding import Embedder

PENDING_LEAVES = 64
"""Leaves embedded together: enough to sort by length, few enough that a kill costs seconds of work."""


@dataclass(slots=True)
class _File:
    """One file on its way in.

    Attributes:
        number: Its place in the run.
        path: As the database has it.
        known: Whether it was in the corpus before.
        access: Tags that its documents get unless they name their own.
        changed: How many of those are new or different.
        failures: How many of its parts could not be read.
    """

    number: int
    source: str
    path: str
    digest: str
    known: bool
    access: tuple[str, ...]
    notes: dict[str, None] = field(default_factory=dict)
    changed: int = 0
    failures: int = 0


class Intake:
    """One run over one corpus."""

    def __init__(
        self,
        truth: Truth,
        embedder: Embedder,
        sizes: Sizes,
        access: Sequence[str],
        report: IngestReport,
        progress: Progress,
    ) -> None:
        """Take what the run needs; `report` is filled in as it goes."""
        self._truth = truth
        self._embedder = embedder
        self._sizes = sizes
        self._access = tuple(sorted(set(access)))
        self._report = report
        self._progress = progress
        self._rows: list[tuple[int, FileRow]] = []
        self._waiting: list[Grown] = []
        self._leaves = 0
        self._finished: list[_File] = []
        self._sources: dict[str, str] = {}

    def take(self, found: Sequence[Found]) -> None:
        """Take in files, in order; one that cannot be read is reported and stops nothing."""
        for number, file in enumerate(found):
            self._progress("files", number, len(found), _storable(file.source))
            self._take_file(number, file)
        self._commit()
        self._progress("files", len(found), len(found), "")

    def prune(self, roots: Sequence[Path], found: Sequence[Found]) -> None:
        """Remove the documents of files under these folders that are gone."""
        here = {_path_of(file) for file in found}
        below = tuple(Path(_storable(str(root))) for root in roots)
        for path, source in self._truth.all("SELECT path, source FROM files ORDER BY source"):
            inside = any(Path(path).is_relative_to(root) for root in below)
            if inside and path not in here and _is_gone(Path(path)):
                documents = self._truth.remove_file(path)
                self._rows.append((len(found), FileRow(source, "removed", "the file is gone", documents)))

    def tell(self) -> None:
        """Put the rows into the report, in the order of the files."""
        self._report.rows = [row for _, row in sorted(self._rows, key=lambda numbered: numbered[0])]

    def _take_file(self, number: int, found: Found) -> None:
        source = _storable(found.source)
        try:
            file = self._unread(number, found, source)
            if file is not None:
                self._read(found, file)
        except ReadingError as error:
            status: Status = "skipped" if error.reason == "unsupported" else "failed"
            self._rows.append((number, FileRow(source, status, f"{error.reason}: {error.message}")))
        except OSError as error:
            self._rows.append((number, FileRow(source, "failed", f"unreadable: {error.strerror or error}")))

    def _unread(self, number: int, found: Found, source: str) -> _File | None:
        """Return the file if it has to be read; report it if it is as it was."""
        path, digest = _path_of(found), _sha256(found.path)
        record = self._truth.file(path)
        access = self._access or (record.access if record else ())
        if record is not None and (record.sha256, record.access) == (digest, access):
            documents, chunks = self._truth.counts(path)
            if documents:
                self._rows.append((number, FileRow(record.source, "unchanged", "", documents, chunks)))
                return None
        return _File(number, source, path, digest, record is not None, access)

    def _read(self, found: Found, file: _File) -> None:
        for item in read(found.path, file.source):
            if isinstance(item, Failure):
                file.failures += 1
                self._rows.append((file.number, FileRow(item.source, "failed", f"{item.reason}: {item.message}")))
                continue
            # Before the next document, not after this one: a file of one document is committed with its record.
            self._commit_if_enough()
            self._take_document(replace(item, access=item.access or file.access), file)
        self._finished.append(file)
        self._commit_if_enough()

    def _take_document(self, document: Document, file: _File) -> None:
        document = self._named(document, file.path)
        file.notes |= dict.fromkeys(document.notes)
        doc_id, digest = digest_of(document.source), content_digest(document)
        if not self._truth.see(file.path, doc_id):
            reason = "duplicate: the name occurs twice in the file; the first one counts"
            self._rows.append((file.number, FileRow(document.source, "failed", reason)))
            return
        if self._truth.holds(doc_id, digest, file.path):
            return
        file.changed += 1
        grown = Grown(document, grow(document, self._embedder, self._sizes), digest, file.path)
        self._waiting.append(grown)
        self._leaves += len(grown.leaves)

    def _named(self, document: Document, path: str) -> Document:
        """Keep two files of the same name apart: the later one takes its folder in front of its name."""
        source = document.source
        if self._taken(source, path):
            source = f"{Path(path).parent.name or 'files'}/{source}"
        while self._taken(source, path):
            source = f"{digest_of(path)[:6]}/{source}"
        self._sources[source] = path
        if source == document.source:
            return document
        return replace(document, source=source, key=source if document.key == document.source else document.key)

    def _taken(self, source: str, path: str) -> bool:
        holder = self._sources.get(source) or self._truth.path_of(source)
        return holder is not None and holder != path and not _is_gone(Path(holder))

    def _commit_if_enough(self) -> None:
        if self._leaves >= PENDING_LEAVES:
            self._commit()

    def _commit(self) -> None:
        """Embed what waits, then write it and the records of the files that it finishes, all or nothing."""
        waiting, finished = self._waiting, self._finished
        self._waiting, self._finished, self._leaves = [], [], 0
        self._embed(waiting)
        removed = self._truth.write(waiting, [_record(file) for file in finished])
        for file in finished:
            changes = file.changed + removed.get(file.path, 0)
            status: Status = ("updated" if changes else "unchanged") if file.known else "added"
            documents, chunks = self._truth.counts(file.path)
            row = FileRow(file.source, status, "", documents, chunks, tuple(file.notes))
            self._rows.append((file.number, row))

    def _embed(self, waiting: Sequence[Grown]) -> None:
        missing = self._truth.missing_vectors([text for grown in waiting for text in grown.leaves], self._embedder.name)
        keys = list(missing)
        for start in range(0, len(keys), PENDING_LEAVES):
            part = keys[start : start + PENDING_LEAVES]
            # Kept at once: a long document that is interrupted goes on from here.
            self._truth.add_vectors(part, self._embedder.embed([missing[key] for key in part]), self._embedder.name)
            self._report.embedded += len(part)
            self._progress("passages", self._report.embedded, 0, waiting[-1].document.source)


def _record(file: _File) -> FileRecord:
    return FileRecord(
        path=file.path,
        source=file.source,
        # A file with unreadable parts is read again each time: what is wrong with it must not fall silent.
        sha256="" if file.failures else file.digest,
        access=file.access,
        # Which document an unreadable part was, nobody can say; so none is taken for gone.
        complete=not file.failures,
    )


def _path_of(found: Found) -> str:
    return _storable(str(found.path.resolve()))


def _storable(name: str) -> str:
    """Write the bytes of a file name that are no UTF-8 as escapes; SQLite takes only text."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_gone(path: Path) -> bool:
    """Tell whether a path surely does not exist; one that may not be looked at might."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _sha256(path: Path) -> str:
    if path.is_dir():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
