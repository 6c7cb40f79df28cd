"""Writes a corpus as lines of JSON; of a damaged one, every document that is whole.

Documents are read one after the other, from both ends of the table where SQLite stumbles over something in between. One
that cannot be read, or is not what was written, is named; the files that it came from are what it is made anew from.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from anabranch.chunking.hierarchical_chunker import Sizes, checked_sizes
from anabranch.errors import CorpusDamagedError, SettingsError
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_folder import CorpusProgress, must_exist, silent
from anabranch.store.export.document_lines import document_record, torn_record
from anabranch.store.export.json_lines import Header, Record, file_records, line_of
from anabranch.store.index.manifest import Manifest, current, read_manifest
from anabranch.store.passage_reader import read_only
from anabranch.store.schema import VERSION, version_of
from anabranch.store.stored_document import (
    StoredChunk,
    StoredDocument,
    fault,
    is_vector,
    numbers,
    stored_chunks,
    stored_document,
)


class Torn(NamedTuple):
    """A document that could not be exported whole."""

    source: str
    why: str


@dataclass(slots=True)
class ExportReport:
    """What became of a corpus.

    Attributes:
        documents: How many are in the file, each exactly as it was written.
        files: Records of files that were taken in.
        torn: Documents that are not whole; what is left of them is in the file for people, and no import takes it.
        unknown: Documents that the index knows of, and of which not even the name can be read any more.
        problems: What else was found on the way.
    """

    documents: int = 0
    files: int = 0
    torn: list[Torn] = field(default_factory=list)
    unknown: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether nothing was lost."""
        return not (self.torn or self.unknown or self.problems)


def export_corpus(
    corpus: StrPath, out: BinaryIO, *, vectors: bool = False, progress: CorpusProgress = silent
) -> ExportReport:
    """Write a corpus as lines of JSON (`anabranch.store.export.json_lines`), one document in memory at a time.

    Args:
        corpus: The corpus; it may be damaged, read-only, or be written to meanwhile.
        out: Where to write.
        vectors: Write the vectors, too; without them an import has to embed anew.
        progress: Told how far it is.

    Raises:
        CorpusNotFoundError: There is no corpus there.
    """
    folder = must_exist(corpus)
    report = ExportReport()
    _Export(folder, out, report, vectors=vectors, progress=progress).run()
    return report


class _Export:
    """One run."""

    def __init__(
        self, folder: Path, out: BinaryIO, report: ExportReport, *, vectors: bool, progress: CorpusProgress
    ) -> None:
        self._folder = folder
        self._out = out
        self._report = report
        self._vectors = vectors
        self._progress = progress
        self._last = 0
        self._doubtful: list[int] = []

    def run(self) -> None:
        connection = self._opened()
        self._header = _header_of(self._folder, connection, vectors=self._vectors)
        self._write(self._header.record())
        if connection is not None:
            with closing(connection):
                self._read(connection)
                for number in self._doubtful:
                    self._tear(connection, number)
                self._write_files(connection)
        known = max(self._header.documents or 0, self._report.documents + len(self._doubtful))
        report = self._report
        report.unknown = max(0, known - report.documents - len(report.torn))
        counts = {"documents": report.documents, "files": report.files, "torn": len(report.torn)}
        self._write({"kind": "end", **counts})

    def _opened(self) -> sqlite3.Connection | None:
        """Return the database in one read transaction, None where SQLite cannot make anything of it."""
        try:
            connection = read_only(self._folder / DATABASE)
        except sqlite3.DatabaseError as error:
            self._report.problems.append(f"{DATABASE}: {error}")
            return None
        try:
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("BEGIN")
            if version_of(connection) == VERSION:
                return connection
            self._report.problems.append(f"{DATABASE} has version {version_of(connection)}, not {VERSION}")
        except sqlite3.DatabaseError as error:
            self._report.problems.append(f"{DATABASE}: {error}")
        connection.close()
        return None

    def _read(self, connection: sqlite3.Connection) -> None:
        """Write what SQLite can read and is whole; past a damaged page of the table, begin at its other end."""
        try:
            for number in numbers(connection):
                self._last = number
                self._read_one(connection, number)
        except sqlite3.DatabaseError as error:
            self._report.problems.append(f"{DATABASE}: {error}")
            self._read_backwards(connection)

    def _read_backwards(self, connection: sqlite3.Connection) -> None:
        with suppress(sqlite3.DatabaseError):
            for number in numbers(connection, backwards=True):
                if number <= self._last:
                    break
                self._read_one(connection, number)

    def _read_one(self, connection: sqlite3.Connection, number: int) -> None:
        try:
            document = stored_document(connection, number)
            whole = document is not None and self._is_written(connection, document)
        except sqlite3.DatabaseError:
            whole = False
        if not whole:
            self._doubtful.append(number)

    def _is_written(self, connection: sqlite3.Connection, document: StoredDocument) -> bool:
        chunks = stored_chunks(connection, document.doc_id)
        if fault(document, chunks) is not None:
            return False
        self._write(document_record(document, chunks, self._vectors_of(connection, chunks)))
        self._report.documents += 1
        self._progress("documents", self._report.documents, self._header.documents or 0)
        return True

    def _vectors_of(self, connection: sqlite3.Connection, chunks: Sequence[StoredChunk]) -> bytes | None:
        """Return the vectors of all leaves, None where one cannot be had: an import embeds those anew."""
        if not self._header.vectors:
            return None
        sql = "SELECT vector FROM vectors WHERE vector_key = ? AND embedder = ?"
        found = []
        for chunk in chunks:
            if chunk.level == 2:
                try:
                    row = connection.execute(sql, (chunk.vector_key, self._header.embedder)).fetchone()
                except sqlite3.DatabaseError:
                    return None
                if row is None or not is_vector(row[0], self._header.dimension):
                    return None
                found.append(row[0])
        return b"".join(found)

    def _tear(self, connection: sqlite3.Connection, number: int) -> None:
        """Name a document that is not whole, with what can be read of it; one without a name is only counted."""
        try:
            document = stored_document(connection, number)
        except sqlite3.DatabaseError:
            document = None
        if document is None:
            return
        try:
            chunks, why = stored_chunks(connection, document.doc_id), ""
        except sqlite3.DatabaseError as error:
            chunks, why = [], str(error)
        why = why or fault(document, chunks) or "it cannot be read"
        self._report.torn.append(Torn(str(document.source), why))
        self._write(torn_record(document, chunks, why))

    def _write_files(self, connection: sqlite3.Connection) -> None:
        try:
            for record in file_records(connection):
                self._write(record)
                self._report.files += 1
        except (sqlite3.DatabaseError, TypeError, ValueError) as error:
            said = "Files that are not in the export will be read again by the next ingest."
            self._report.problems.append(f"{DATABASE}, the records of files: {error}. {said}")

    def _write(self, record: Record) -> None:
        self._out.write(line_of(record))


def _header_of(folder: Path, connection: sqlite3.Connection | None, *, vectors: bool) -> Header:
    """Return the first line for a corpus; what the database cannot say, its index may.

    Args:
        folder: The corpus.
        connection: Its database, None where that cannot be opened.
        vectors: Whether the vectors are wanted.
    """
    manifest = _manifest_of(folder)
    embedder = _meta(connection, "embedder") or (manifest.embedder if manifest else "")
    dimension = manifest.dimension if manifest else _dimension(connection, embedder)
    documents = _one(connection, "SELECT count(*) FROM documents")
    if not isinstance(documents, int):
        documents = manifest.documents if manifest else None
    return Header(
        embedder=embedder,
        dimension=dimension,
        sizes=_sizes(_meta(connection, "sizes")),
        language=_meta(connection, "language") or (manifest.language if manifest else "english"),
        documents=documents,
        vectors=vectors and dimension > 0,
    )


def _manifest_of(folder: Path) -> Manifest | None:
    try:
        name = current(folder)
        return read_manifest(folder, name) if name is not None else None
    except CorpusDamagedError:
        return None


def _meta(connection: sqlite3.Connection | None, name: str) -> str:
    value = _one(connection, "SELECT value FROM meta WHERE name = ?", name)
    return value if isinstance(value, str) else ""


def _dimension(connection: sqlite3.Connection | None, embedder: str) -> int:
    length = _one(connection, "SELECT length(vector) FROM vectors WHERE embedder = ? LIMIT 1", embedder)
    return length // 4 if isinstance(length, int) else 0


def _one(connection: sqlite3.Connection | None, sql: str, *parameters: str) -> object:
    try:
        row = connection.execute(sql, parameters).fetchone() if connection is not None else None
    except sqlite3.DatabaseError:
        return None
    return row[0] if row else None


def _sizes(text: str) -> Sizes | None:
    try:
        return checked_sizes(json.loads(text))
    except (ValueError, TypeError, SettingsError):
        return None
