"""Makes a segment from documents of the database."""

from __future__ import annotations

import secrets
import shlex
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import CorpusDamagedError
from anabranch.models.embedder import Vectors
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_language import resolve_language
from anabranch.store.index.dense import write_shards
from anabranch.store.index.manifest import segment_home
from anabranch.store.index.mmap_file import save
from anabranch.store.index.postings import write_postings
from anabranch.store.index.segment import Segment, seal
from anabranch.store.records import digest_of, embedded_text
from anabranch.text.analyzer import analyser

# Rows of text in memory at a time; a corpus may be larger than the memory.
BLOCK = 500

# In SQLite, CROSS JOIN fixes the order of the tables: with documents first, rows come in order without sorting their
# text.
_LEAVES = (
    "FROM temp.members m CROSS JOIN documents d ON d.number = m.number "
    "CROSS JOIN chunks c ON c.doc_id = d.doc_id AND c.level = 2 ORDER BY m.number, c.start"
)


class SegmentPart(NamedTuple):
    """Documents that become one segment.

    Attributes:
        numbers: Numbers of the documents, ascending.
        leaves: How many they have together.
    """

    numbers: Sequence[int]
    leaves: int


def parts(database: CorpusDatabase, born: int, most: int) -> Iterator[SegmentPart]:
    """Divide the documents born after a count of changes into parts of about `most` leaves, whole documents each."""
    sql = (
        "SELECT d.number, count(*) FROM documents d CROSS JOIN chunks c ON c.doc_id = d.doc_id AND c.level = 2 "
        "WHERE d.born > ? GROUP BY d.number ORDER BY d.number"
    )
    numbers: list[int] = []
    leaves = 0
    for number, count in database.all(sql, born):
        numbers.append(number)
        leaves += count
        if leaves >= most:
            yield SegmentPart(numbers, leaves)
            numbers, leaves = [], 0
    if numbers:
        yield SegmentPart(numbers, leaves)


def build_segment(
    database: CorpusDatabase, part: SegmentPart, progress: Callable[[int], None] = lambda _: None
) -> Segment:
    """Write a new segment of documents from the database.

    Raises:
        CorpusDamagedError: A leaf has no vector of the corpus's embedder, or is not what was written.
    """
    # A random name: a number could be that of a segment that a reader still has open, or of an unfinished one.
    home = segment_home(database.folder, secrets.token_hex(6))
    home.mkdir(parents=True)
    database.connection.execute("CREATE TEMP TABLE IF NOT EXISTS members (number INTEGER PRIMARY KEY)")
    database.connection.execute("DELETE FROM temp.members")
    with database.transaction():
        database.connection.executemany("INSERT INTO temp.members VALUES (?)", ((number,) for number in part.numbers))
    rows = _Rows()
    write_postings(home, _terms(database, rows, progress))
    rows.write(home)
    dimension = database.dimension()
    write_shards(home, _vectors(database, dimension), dimension)
    seal(home)
    return Segment(home)


class _Rows:
    """The owner of each row, collected while the terms are read."""

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


def _terms(database: CorpusDatabase, rows: _Rows, progress: Callable[[int], None]) -> Iterator[list[str]]:
    words = analyser(resolve_language(database))
    columns = "d.number, d.born, d.doc_id, d.source, c.chunk_id, c.position, d.title, c.heading, c.text"
    for block in _blocks(database.connection, columns):
        for number, born, doc_id, source, chunk_id, position, title, heading, text in block:
            # Check now: later the checksums of the index would vouch for damaged text.
            if chunk_id != digest_of(str(doc_id), f"2/{position}", str(text)):
                msg = f"A passage of {source!r} is not what was written."
                hint = f"Replace it: anabranch corpus remove {shlex.quote(str(source))}, then ingest it."
                raise CorpusDamagedError(msg, hint=hint)
            rows.add(number, born, chunk_id)
            yield words.terms(embedded_text(str(title), str(heading), text))
        progress(len(block))


def _vectors(database: CorpusDatabase, dimension: int) -> Iterator[Vectors]:
    of_leaf = "(SELECT vector FROM vectors v WHERE v.vector_key = c.vector_key AND v.embedder = ?)"
    for block in _blocks(database.connection, of_leaf, database.meta("embedder") or ""):
        # Check the length, too: one wrong length would shift all vectors of the joined buffer.
        if any(row[0] is None or len(row[0]) != 4 * dimension for row in block):
            msg = "A passage has no vector of the corpus's embedder."
            raise CorpusDamagedError(msg, hint="Run `anabranch corpus rebuild`, which embeds what is missing.")
        yield np.frombuffer(b"".join(row[0] for row in block), dtype=np.float32).reshape(len(block), dimension)


def _blocks(connection: sqlite3.Connection, columns: str, *parameters: str) -> Iterator[list[tuple[Any, ...]]]:
    cursor = connection.execute(f"SELECT {columns} {_LEAVES}", parameters)
    while rows := cursor.fetchmany(BLOCK):
        yield rows
