"""Documents and passages as compressed lines.

The documents of an index segment are one archive, which never changes. The records of their files may change, so they
are written in blocks, of which only the changed ones are sent again.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from anabranch.store.filter_sql import LISTED
from anabranch.store.schema import has_summaries

SOURCES = 256
"""Files of documents in one block, on average."""

_MANY = 500


class ArchivedDocument(NamedTuple):
    """A row of `documents` with its rows of `chunks`."""

    number: int
    born: int
    row: list[Any]
    chunks: list[list[Any]]


def write_documents(connection: sqlite3.Connection, births: Mapping[int, int], file: Path) -> None:
    """Write the documents with these numbers, if their birth is unchanged.

    Raises:
        sqlite3.DatabaseError: The database is damaged.
        TypeError: A value has a wrong type.
    """
    _write(file, _documents(connection, births))


def _documents(connection: sqlite3.Connection, births: Mapping[int, int]) -> Iterator[tuple[Any, ...]]:
    numbers = sorted(births)
    for start in range(0, len(numbers), _MANY):
        some = json.dumps(numbers[start : start + _MANY])
        sql = f"SELECT number, born, doc_id, * FROM documents WHERE number IN {LISTED} ORDER BY number"  # noqa: S608
        for number, born, doc_id, *row in connection.execute(sql, (some,)).fetchall():
            if births[number] == born:
                chunks = connection.execute("SELECT * FROM chunks WHERE doc_id = ? ORDER BY rowid", (doc_id,))
                yield number, born, row, chunks.fetchall()


def read_documents(file: Path) -> Iterator[ArchivedDocument]:
    """Yield the documents of an archive whose checksum was verified."""
    return (ArchivedDocument(*line) for line in read_lines(file))


def source_blocks(connection: sqlite3.Connection) -> Iterator[list[Sequence[Any]]]:
    """Yield the records of files in blocks, by path: path, source, digest, access."""
    return _cut(connection.execute("SELECT path, source, sha256, access FROM files ORDER BY path"))


def summary_blocks(connection: sqlite3.Connection) -> Iterator[list[Sequence[Any]]]:
    """Yield what a chat model wrote of documents in blocks, by id: id, digest, text, birth of the document."""
    if not has_summaries(connection):
        return iter(())
    # With its birth, so that the block of a document that was written anew is a fresh one.
    sql = (
        "SELECT s.doc_id, s.digest, s.text, d.born FROM summaries s "
        "JOIN documents d ON d.doc_id = s.doc_id AND d.digest = s.digest ORDER BY s.doc_id"
    )
    return _cut(connection.execute(sql))


def _cut(rows: Iterable[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    block: list[Sequence[Any]] = []
    for row in rows:
        # Cut by content and not by count, so that a new row does not shift the other blocks.
        if block and zlib.crc32(row[0].encode()) % SOURCES == 0:
            yield block
            block = []
        block.append(row)
    if block:
        yield block


def write_block(block: Iterable[Sequence[Any]], file: Path) -> None:
    """Write a block."""
    _write(file, block)


def read_lines(file: Path) -> Iterator[list[Any]]:
    """Yield the rows of a block."""
    with gzip.open(file, "rb") as lines:
        yield from map(json.loads, lines)


def _write(file: Path, rows: Iterable[Sequence[Any]]) -> None:
    # Without name and time, so that the same rows give the same bytes and are not sent again.
    with file.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as lines:
        for row in rows:
            lines.write(json.dumps(row).encode() + b"\n")
