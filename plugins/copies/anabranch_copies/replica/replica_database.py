"""Makes the database of a copy: that of the generation before, and what has changed since."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from anabranch.store.connections import connect_read_only
from anabranch.store.schema import CHUNK_INDEXES, CHUNKS, DOCUMENTS, FILES, META, VERSION
from anabranch_copies.replica.passage_archive import read_documents, read_lines
from anabranch_copies.replica.pointer import Catalog

# Without vectors, which the index has, and without what a writer keeps in mind.
_TABLES = META + FILES + DOCUMENTS + CHUNKS + CHUNK_INDEXES

Fetch = Callable[[str], Path]
"""Brings a file by its name, and says where it lies."""


class Former(NamedTuple):
    """A database that was made earlier, and of what."""

    database: Path
    catalog: Catalog


def build_database(file: Path, catalog: Catalog, alive: Mapping[int, int], fetch: Fetch, former: Former | None) -> bool:
    """Write the database of a generation.

    Args:
        file: Where; what lies there is written over.
        catalog: Of the generation.
        alive: Birth of each document that the index has, by number.
        fetch: Brings an archive.
        former: What to begin with.

    Returns:
        Whether it is whole: False if a document is neither in the former database nor in the archives.
    """
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        if former is None:
            connection.executescript(f"{_TABLES} PRAGMA user_version = {VERSION};")
        else:
            # By SQLite and not as a file: a process that closes a database which it has read by other means loses its
            # locks on it (fcntl), and with them what says that somebody reads it.
            with closing(connect_read_only(former.database)) as source:
                source.backup(connection)
        # Nobody reads it before it is finished, and one that is not finished is made anew.
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON;")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("BEGIN")
        connection.execute("DELETE FROM meta")
        connection.executemany("INSERT INTO meta VALUES (?, ?)", catalog.facts.items())
        whole = _put_documents(connection, catalog, alive, fetch, former)
        _put_sources(connection, catalog, fetch, former)
        connection.execute("COMMIT")
    return whole


def _put_documents(
    connection: sqlite3.Connection, catalog: Catalog, alive: Mapping[int, int], fetch: Fetch, former: Former | None
) -> bool:
    had = set(connection.execute("SELECT number, born FROM documents"))
    without_leaves = list(read_documents(fetch(catalog.passages[""]))) if "" in catalog.passages else []
    wanted = {*alive.items(), *((document.number, document.born) for document in without_leaves)}
    # Deleted first: the newer edition of a document has the same number, and passages with the same id.
    connection.executemany("DELETE FROM documents WHERE number = ?", ((number,) for number, _ in had - wanted))
    missing = wanted - had
    known = set(former.catalog.passages.values()) if former else set()
    for name in catalog.passages.values():
        # All that is alive of an archive that was read before was taken from it then: nothing comes to life again.
        if not missing or name in known:
            continue
        for document in read_documents(fetch(name)):
            if (document.number, document.born) in missing:
                _insert(connection, "documents", [document.row])
                _insert(connection, "chunks", document.chunks)
                missing.remove((document.number, document.born))
    return not missing


def _put_sources(connection: sqlite3.Connection, catalog: Catalog, fetch: Fetch, former: Former | None) -> None:
    before = set(former.catalog.sources) if former else set()
    gone, fresh = before - set(catalog.sources), set(catalog.sources) - before
    connection.executemany("DELETE FROM files WHERE path BETWEEN ? AND ?", ((first, last) for first, last, _ in gone))
    for _, _, name in fresh:
        rows = list(read_lines(fetch(name)))
        connection.executemany("INSERT INTO files (path, source, sha256, access) VALUES (?, ?, ?, ?)", rows)


def _insert(connection: sqlite3.Connection, table: str, rows: list[list[object]]) -> None:
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608  # our own names
