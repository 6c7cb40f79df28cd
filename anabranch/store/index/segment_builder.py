"""Makes a segment from documents of the database."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import CorpusDamagedError
from anabranch.models.embedder import Vectors
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.index.dense import write_shards
from anabranch.store.index.mmap_file import save
from anabranch.store.index.postings import write_postings
from anabranch.store.index.segment import seal
from anabranch.store.records import digest_of, embedded_text
from anabranch.text.analyzer import Analyser

# Rows of text in memory at a time; the whole of a corpus may be larger than it.
BLOCK = 500
BEFORE_ALL = -1
"""A count of changes before every document's birth."""

# In SQLite, CROSS JOIN fixes the order of the tables: documents first, whatever its planner thinks of a corpus that it
# has no statistics of.
_LEAVES = "CROSS JOIN chunks c ON c.doc_id = d.doc_id AND c.level = 2"
_BOUNDS = "WHERE d.number >= ? AND d.number <= ? AND d.born > ? ORDER BY d.number, c.start"


class SegmentPart:
    """Documents that become one segment: those from `first` to `last` by number that were born after `born`."""

    def __init__(self, first: int, last: int, born: int, leaves: int) -> None:
        """Take the bounds, both inclusive, and how many leaves are within them."""
        self.bounds = (first, last, born)
        self.leaves = leaves

    def select(self, columns: str) -> str:
        """Return the SQL of columns of documents `d` and leaves `c`, in row order, for the parameters `bounds`."""
        return f"SELECT {columns} {_from(self.bounds[2])} {_LEAVES} {_BOUNDS}"  # constants


def _from(born: int) -> str:
    # A few new documents are found by their birth; for all of them, the order they lie in spares sorting their text.
    return "FROM documents d INDEXED BY documents_by_birth" if born > BEFORE_ALL else "FROM documents d NOT INDEXED"


def parts(database: CorpusDatabase, born: int, most: int) -> list[SegmentPart]:
    """Divide the documents born after a count of changes into parts of about `most` leaves, whole documents each."""
    sql = f"SELECT d.number, count(*) {_from(born)} {_LEAVES} WHERE d.born > ? GROUP BY d.number ORDER BY d.number"
    found: list[SegmentPart] = []
    first, leaves = 0, 0
    for number, count in database.connection.execute(sql, (born,)):
        leaves += count
        if leaves >= most:
            found.append(SegmentPart(first, number, born, leaves))
            first, leaves = number + 1, 0
    if leaves:
        found.append(SegmentPart(first, 2**62, born, leaves))
    return found


def build_segment(
    home: Path, database: CorpusDatabase, part: SegmentPart, words: Analyser, told: Callable[[int], None]
) -> None:
    """Write the segment of a part into the new folder `home`.

    Raises:
        CorpusDamagedError: A leaf has no vector of the corpus's embedder, or is not what was written.
    """
    home.mkdir(parents=True)
    rows = _Rows()
    write_postings(home, _terms(database, part, words, rows, told))
    rows.write(home)
    embedder = database.meta("embedder") or ""
    dimension = dimension_of(database)
    write_shards(home, _vectors(database, part, embedder, dimension), dimension)
    seal(home)


def dimension_of(database: CorpusDatabase) -> int:
    """Return the length of the vectors, from themselves: asking a hosted embedder would need its key and its server."""
    row = database.one("SELECT length(vector) FROM vectors WHERE embedder = ? LIMIT 1", database.meta("embedder") or "")
    return (row or (0,))[0] // 4


class _Rows:
    """Whose each row is, collected while the terms go by."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.owners: list[int] = []
        self.documents: list[tuple[int, int, int]] = []

    def add(self, number: int, born: int, chunk_id: str) -> None:
        if not self.documents or self.documents[-1][0] != number:
            self.documents.append((number, born, len(self.ids)))
        self.ids.append(chunk_id)
        self.owners.append(len(self.documents) - 1)

    def write(self, home: Path) -> None:
        save(home / "rows.npy", np.array(self.ids, dtype="S16"))
        save(home / "owners.npy", np.array(self.owners, dtype=np.int32))
        save(home / "documents.npy", np.array(self.documents, dtype=np.int64).reshape(-1, 3))


def _terms(
    database: CorpusDatabase, part: SegmentPart, words: Analyser, rows: _Rows, told: Callable[[int], None]
) -> Iterator[list[str]]:
    sql = part.select("d.number, d.born, d.doc_id, d.source, c.chunk_id, c.position, d.title, c.heading, c.text")
    for block in _blocks(database.connection, sql, part.bounds):
        for number, born, doc_id, source, chunk_id, position, title, heading, text in block:
            # The last moment to find out: from here on the checksums of the index would vouch for text that nobody
            # wrote.
            if chunk_id != digest_of(str(doc_id), f"2/{position}", str(text)):
                msg = f"A passage of {source!r} is not what was written."
                hint = f"Take it out and in again: anabranch corpus remove {shlex.quote(str(source))}, then ingest it."
                raise CorpusDamagedError(msg, hint=hint)
            rows.add(number, born, chunk_id)
            yield words.terms(embedded_text(str(title), str(heading), text))
        told(len(block))


def _vectors(database: CorpusDatabase, part: SegmentPart, embedder: str, dimension: int) -> Iterator[Vectors]:
    of_leaf = "(SELECT vector FROM vectors v WHERE v.vector_key = c.vector_key AND v.embedder = ?)"
    for block in _blocks(database.connection, part.select(of_leaf), (embedder, *part.bounds)):
        # The length too: a buffer of joined bytes would be cut into vectors that all belong to somebody else.
        if any(row[0] is None or len(row[0]) != 4 * dimension for row in block):
            msg = "A passage has no vector of the corpus's embedder."
            raise CorpusDamagedError(msg, hint="Run `anabranch corpus rebuild`, which embeds what is missing.")
        yield np.frombuffer(b"".join(row[0] for row in block), dtype=np.float32).reshape(len(block), dimension)


def _blocks(connection: sqlite3.Connection, sql: str, parameters: Sequence[Any]) -> Iterator[list[tuple[Any, ...]]]:
    cursor = connection.execute(sql, parameters)
    while rows := cursor.fetchmany(BLOCK):
        yield rows
