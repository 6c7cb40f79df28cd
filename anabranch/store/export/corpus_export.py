"""Writes a corpus as lines of JSON; of a damaged one, every document that SQLite can read and that is whole.

One that is not what was written is named; the files that it came from are what it is made anew from.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from anabranch.chunking.hierarchical_chunker import Sizes, checked_sizes
from anabranch.errors import CorpusDamagedError, SettingsError
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_folder import CorpusProgress, must_exist, silent
from anabranch.store.export.document_lines import document_record
from anabranch.store.export.json_lines import Header, Record, file_records, line_of
from anabranch.store.passage_reader import read_only
from anabranch.store.schema import checked_version
from anabranch.store.stored_document import (
    StoredChunk,
    StoredDocument,
    dimension_of_most,
    fault,
    is_vector,
    numbers,
    stored_chunks,
    stored_document,
)


class Torn(NamedTuple):
    """A document that was left out, because it is not whole; `source` is empty where that cannot be read."""

    source: str
    why: str


@dataclass(slots=True)
class ExportReport:
    """What became of a corpus.

    Attributes:
        documents: How many are in the file, each exactly as it was written.
        files: Records of files that were taken in.
        torn: Documents that are not whole.
        problems: What else could not be read.
    """

    documents: int = 0
    files: int = 0
    torn: list[Torn] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether nothing was lost."""
        return not (self.torn or self.problems)


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
        CorpusDamagedError: Of the database not even its settings can be read, or it is of another version.
    """
    folder = must_exist(corpus)
    try:
        with closing(read_only(folder / DATABASE)) as connection:
            # What a damaged page says of its own layout is looked at before it is followed.
            connection.execute("PRAGMA cell_size_check = ON")
            # One transaction for all: an export of minutes is of one moment, whatever is written meanwhile.
            connection.execute("BEGIN")
            checked_version(connection)
            header = _header_of(connection, vectors=vectors)
            return _Export(connection, header, out, progress).run()
    except sqlite3.DatabaseError as error:
        msg = f"{folder / DATABASE} cannot be read: {error}"
        raise CorpusDamagedError(msg, hint="Ingest the documents into a new folder.") from error


class _Export:
    """One run."""

    def __init__(self, connection: sqlite3.Connection, header: Header, out: BinaryIO, progress: CorpusProgress) -> None:
        self._connection = connection
        self._header = header
        self._out = out
        self._progress = progress
        self._report = ExportReport()

    def run(self) -> ExportReport:
        report = self._report
        self._write(self._header.record())
        try:
            for number in numbers(self._connection):
                self._read_one(number)
        except sqlite3.DatabaseError as error:
            report.problems.append(f"{DATABASE}: {error}")
        # A page that was emptied is no error to SQLite: its documents just do not come.
        lost = (self._header.documents or 0) - report.documents - len(report.torn)
        if lost > 0:
            report.problems.append(f"{DATABASE}: {lost} documents cannot be found any more")
        self._write_files()
        self._write({"kind": "end", "documents": report.documents, "files": report.files})
        return report

    def _read_one(self, number: int) -> None:
        document: StoredDocument | None = None
        try:
            document = stored_document(self._connection, number)
            chunks = stored_chunks(self._connection, document.doc_id) if document else []
            why = fault(document, chunks) if document else "it cannot be found by its number"
        except sqlite3.DatabaseError as error:
            why, chunks = str(error), []
        if document is None or why is not None:
            self._report.torn.append(Torn(str(document.source) if document else "", str(why)))
            return
        self._write(document_record(document, chunks, self._vectors_of(chunks)))
        self._report.documents += 1
        self._progress("documents", self._report.documents, self._header.documents or 0)

    def _vectors_of(self, chunks: Sequence[StoredChunk]) -> bytes | None:
        """Return the vectors of all leaves, None where one cannot be had: an import embeds those anew."""
        if not self._header.vectors:
            return None
        sql = "SELECT vector FROM vectors WHERE vector_key = ? AND embedder = ?"
        found = []
        for chunk in chunks:
            if chunk.level == 2:
                try:
                    row = self._connection.execute(sql, (chunk.vector_key, self._header.embedder)).fetchone()
                except sqlite3.DatabaseError:
                    return None
                # A vector that is missing is no loss, only work: the document is exported without any, and embedded by
                # the import.
                if row is None or not is_vector(row[0], self._header.dimension):
                    return None
                found.append(row[0])
        return b"".join(found)

    def _write_files(self) -> None:
        try:
            # After the documents: an import trusts the record of a file only if all its documents have come before it.
            for record in file_records(self._connection):
                self._write(record)
                self._report.files += 1
        except (sqlite3.DatabaseError, TypeError, ValueError) as error:
            said = "Files that are not in the export will be read again by the next ingest."
            self._report.problems.append(f"{DATABASE}, the records of files: {error}. {said}")

    def _write(self, record: Record) -> None:
        self._out.write(line_of(record))


def _header_of(connection: sqlite3.Connection, *, vectors: bool) -> Header:
    """Return the first line for a corpus.

    Raises:
        sqlite3.DatabaseError: The settings of the corpus cannot be read.
    """
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    if not all(isinstance(value, str) for value in meta.values()):
        raise sqlite3.DatabaseError("its settings are not what was written")
    embedder = meta.get("embedder", "")
    dimension = _dimension(connection, embedder)
    return Header(
        embedder=embedder,
        dimension=dimension,
        sizes=_sizes(meta.get("sizes", "")),
        language=meta.get("language", "english"),
        documents=_count(connection),
        vectors=vectors and dimension > 0,
    )


def _dimension(connection: sqlite3.Connection, embedder: str) -> int:
    try:
        return dimension_of_most(connection, embedder)
    except sqlite3.DatabaseError:  # the vectors are lost, and can be made anew from the text
        return 0


def _count(connection: sqlite3.Connection) -> int | None:
    try:
        return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])
    except sqlite3.DatabaseError:
        return None


def _sizes(text: str) -> Sizes | None:
    try:
        return checked_sizes(json.loads(text))
    except (ValueError, TypeError, SettingsError):
        return None
