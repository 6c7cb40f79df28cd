"""The tables of a corpus. SQLite is the one truth; everything else in the folder can be made from it again."""

from __future__ import annotations

import sqlite3

from anabranch.errors import CorpusDamagedError

VERSION = 1

TABLES = """
CREATE TABLE IF NOT EXISTS meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- One row per file that was taken in: what lets a second run skip it, and notice that it is gone. An empty digest means
-- that it has to be read again. `access` is what was given with it.
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    access TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS documents (
    doc_id TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    source TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    title TEXT NOT NULL,
    digest TEXT NOT NULL,
    metadata TEXT NOT NULL,
    access TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    pages TEXT NOT NULL  -- [[first character, page], ...]: a leaf may run over a page's end, a quote is on one page
);
CREATE INDEX IF NOT EXISTS documents_by_path ON documents (path);

-- Leaves (level 2) carry their text and tile the document; a parent's text is that of the leaves in its span.
CREATE TABLE IF NOT EXISTS chunks (
    chunk_id TEXT PRIMARY KEY,
    doc_id TEXT NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    parent_id TEXT,
    level INTEGER NOT NULL,
    position INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    page INTEGER,
    page_end INTEGER,
    heading TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    text TEXT,
    vector_key TEXT
);
CREATE INDEX IF NOT EXISTS chunks_by_document ON chunks (doc_id, level, start);
CREATE INDEX IF NOT EXISTS chunks_by_parent ON chunks (parent_id, position);

-- Vectors by what was embedded, so that text that moves or comes back is never embedded again.
CREATE TABLE IF NOT EXISTS vectors (
    vector_key TEXT NOT NULL,
    embedder TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (vector_key, embedder)
) WITHOUT ROWID;

-- Terms in the same way: analysing is most of the work of making the BM25 index anew.
CREATE TABLE IF NOT EXISTS analysed (
    vector_key TEXT NOT NULL,
    analyser TEXT NOT NULL,
    terms TEXT NOT NULL,
    PRIMARY KEY (vector_key, analyser)
) WITHOUT ROWID;
"""


def prepare(connection: sqlite3.Connection) -> None:
    """Create the tables where they are missing, and refuse a corpus of a later version.

    Raises:
        CorpusDamagedError: The corpus was written by a newer Anabranch.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        msg = f"The corpus has version {version}; this program knows versions up to {VERSION}."
        raise CorpusDamagedError(msg, hint="Update Anabranch.")
    if version < VERSION:
        connection.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
