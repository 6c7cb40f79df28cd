"""Build the database of a copy from that of an earlier generation and the changes since."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from anabranch.store.connections import connect_read_only
from anabranch.store.schema import CHUNK_INDEXES, CHUNKS, DOCUMENTS, FILES, META, SUMMARY_TABLE, VERSION, has_summaries
from anabranch_copies.replica.passage_archive import read_documents, read_lines
from anabranch_copies.replica.pointer import Catalog

# Without vectors, which are in the index, and without the tables that only writers need.
_TABLES = META + FILES + DOCUMENTS + CHUNKS + CHUNK_INDEXES

Fetch = Callable[[str], Path]
"""Fetches a file by its name, and returns its path."""


class Former(NamedTuple):
    """An earlier database and its catalog."""

    database: Path
    catalog: Catalog


def build_database(file: Path, catalog: Catalog, alive: Mapping[int, int], fetch: Fetch, former: Former | None) -> bool:
    """Write the database of a generation.

    Args:
        file: The file to write, which is replaced.
        catalog: The catalog of the generation.
        alive: Birth of each document in the index, by number.
        fetch: Fetches an archive.
        former: The database to start from; None to start empty.

    Returns:
        Whether it is complete: False if a document is neither in the former database nor in the archives.
    """
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        if former is None:
            connection.executescript(f"{_TABLES} PRAGMA user_version = {VERSION};")
        else:
            # Copied by SQLite: reading and closing the file directly would release this process's locks on it (fcntl),
            # which mark it as being read.
            with closing(connect_read_only(former.database)) as source:
                source.backup(connection)
        # Nobody reads an unfinished database, and it is built again.
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON;")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("BEGIN")
        connection.execute("DELETE FROM meta")
        connection.executemany("INSERT INTO meta (name, value) VALUES (?, ?)", catalog.facts.items())
        whole = _put_documents(connection, catalog, alive, fetch, former)
        _put_sources(connection, catalog, fetch, former)
        _put_summaries(connection, catalog, fetch, former)
        connection.execute("COMMIT")
    return whole


def _put_documents(
    connection: sqlite3.Connection, catalog: Catalog, alive: Mapping[int, int], fetch: Fetch, former: Former | None
) -> bool:
    had = set(connection.execute("SELECT number, born FROM documents"))
    without_leaves = list(read_documents(fetch(catalog.passages[""]))) if "" in catalog.passages else []
    wanted = {*alive.items(), *((document.number, document.born) for document in without_leaves)}
    # Deleted first, because a new version of a document has the same number and the same passage ids.
    connection.executemany("DELETE FROM documents WHERE number = ?", ((number,) for number, _ in had - wanted))
    missing = wanted - had
    known = set(former.catalog.passages.values()) if former else set()
    for name in catalog.passages.values():
        # An archive that the former database used has no more live documents to add.
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


def _put_summaries(connection: sqlite3.Connection, catalog: Catalog, fetch: Fetch, former: Former | None) -> None:
    if catalog.summaries and not has_summaries(connection):
        # A copy changes no document in place, so it needs no trigger.
        connection.execute(SUMMARY_TABLE)
    before = set(former.catalog.summaries) if former else set()
    gone, fresh = before - set(catalog.summaries), set(catalog.summaries) - before
    for first, last, _ in gone:
        connection.execute("DELETE FROM summaries WHERE doc_id BETWEEN ? AND ?", (first, last))
    columns = "doc_id, digest, text"
    sql = f"INSERT OR REPLACE INTO summaries ({columns}) SELECT doc_id, ?, ? FROM documents WHERE doc_id = ?"  # noqa: S608
    for _, _, name in fresh:
        connection.executemany(sql, ((digest, text, doc_id) for doc_id, digest, text, _ in read_lines(fetch(name))))


def _insert(connection: sqlite3.Connection, table: str, rows: list[list[object]]) -> None:
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608  # our own names
