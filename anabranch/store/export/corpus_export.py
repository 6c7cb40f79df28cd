"""Writes a corpus as lines of JSON; of a damaged one, every document that SQLite can read and that is whole.

One that is not what was written is named; the files that it came from are what it is made anew from.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from anabranch.chunking.hierarchical_chunker import Sizes, checked_sizes
from anabranch.errors import SettingsError
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.connections import reading
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_facts import facts_in
from anabranch.store.corpus_folder import must_exist
from anabranch.store.export.document_lines import document_line
from anabranch.store.export.json_lines import EndLine, ExportLine, FileLine, Header, line_of
from anabranch.store.stored_document import ExaminedDocument, StoredChunk, dimension_of_most, examined, is_vector
from anabranch.store.writer_protocol import Progress, silent
from anabranch.text.normalization import squeeze


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
    corpus: StrPath, out: BinaryIO, *, vectors: bool = False, progress: Progress = silent
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
    with reading(folder, hint="Ingest the documents into a new folder.") as connection:
        # What a damaged page says of its own layout is looked at before it is followed.
        connection.execute("PRAGMA cell_size_check = ON")
        header = _header_of(connection, vectors=vectors)
        return _Export(connection, header, out, progress).run()


class _Export:
    """One run."""

    def __init__(self, connection: sqlite3.Connection, header: Header, out: BinaryIO, progress: Progress) -> None:
        self._connection = connection
        self._header = header
        self._out = out
        self._progress = progress
        self._report = ExportReport()

    def run(self) -> ExportReport:
        report = self._report
        self._write(self._header)
        try:
            for each in examined(self._connection):
                self._take(each)
        except sqlite3.DatabaseError as error:
            report.problems.append(f"{DATABASE}: {error}")
        # A page that was emptied is no error to SQLite: its documents just do not come.
        lost = (self._header.documents or 0) - report.documents - len(report.torn)
        if lost > 0:
            report.problems.append(f"{DATABASE}: {lost} documents cannot be found any more")
        self._write_files()
        self._write(EndLine(documents=report.documents, files=report.files))
        return report

    def _take(self, each: ExaminedDocument) -> None:
        if each.row is None or each.fault is not None:
            self._report.torn.append(Torn(each.name, str(each.fault)))
            return
        self._write(document_line(each.row, each.chunks, self._vectors_of(each.chunks)))
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
        """Write the record of each file, after the documents: an import trusts it only once all of these have come."""
        sql = (
            "SELECT path, source, sha256, access, (SELECT count(*) FROM documents d WHERE d.path = f.path) "
            "FROM files f ORDER BY path"
        )
        try:
            for path, source, digest, access, documents in self._connection.execute(sql):
                tags = json.loads(access)
                self._write(FileLine(path=path, source=source, sha256=digest, access=tags, documents=documents))
                self._report.files += 1
        except (sqlite3.DatabaseError, TypeError, ValueError) as error:
            said = "Files that are not in the export will be read again by the next ingest."
            self._report.problems.append(f"{DATABASE}, the records of files: {squeeze(str(error))}. {said}")

    def _write(self, line: Header | ExportLine) -> None:
        record = line.model_dump()
        if record.get("vectors", "") is None:
            del record["vectors"]
        self._out.write(line_of(record))


def _header_of(connection: sqlite3.Connection, *, vectors: bool) -> Header:
    """Return the first line for a corpus.

    Raises:
        sqlite3.DatabaseError: The settings of the corpus cannot be read.
    """
    meta = facts_in(connection)
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
