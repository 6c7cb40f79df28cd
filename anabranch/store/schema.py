"""The tables of a corpus. SQLite is the source of truth; everything else in the folder can be rebuilt from it."""

from __future__ import annotations

import sqlite3

from anabranch.errors import CorpusDamagedError

VERSION = 3

# `checksum` is that of the other columns of a row (`anabranch.store.records`), in `documents` also that of its chunks:
# SQLite itself notices no changed value.
META = """
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    checksum TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
"""

# One row per ingested file, so that a second run can skip it or notice that it is gone. An empty digest means that it
# has to be read again. `access` holds its tags; `stamp` is its size and times in the file system.
FILES = """
CREATE TABLE files (
    path TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    access TEXT NOT NULL,
    stamp TEXT NOT NULL DEFAULT '',
    checksum TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
"""

# `number` identifies a document in the indexes and is never reused. `born` is the count of changes when its leaves were
# written: leaves with one number and different births belong to two editions.
DOCUMENTS = """
CREATE TABLE documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    doc_id TEXT NOT NULL UNIQUE,
    born INTEGER NOT NULL,
    path TEXT NOT NULL,
    source TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    title TEXT NOT NULL,
    digest TEXT NOT NULL,
    metadata TEXT NOT NULL,
    access TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    pages TEXT NOT NULL,  -- [[first character, page], ...]: a leaf may run over a page's end, a quote is on one page
    checksum TEXT NOT NULL
);
CREATE INDEX documents_by_path ON documents (path);
CREATE INDEX documents_by_birth ON documents (born);
CREATE INDEX documents_restricted ON documents (number) WHERE access != '[]';
"""

# Leaves (level 2) carry their text and tile the document; a parent's text is that of the leaves in its span.
CHUNKS = """
CREATE TABLE chunks (
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
"""
CHUNK_INDEXES = """
CREATE INDEX chunks_by_document ON chunks (doc_id, level, start);
CREATE INDEX chunks_by_parent ON chunks (parent_id, position);
"""

# Vectors by embedded text, so that text that moves or comes back is never embedded again. With row ids, two vectors
# share a page in the order of insertion; without, each would spill into a page of its own.
VECTORS = """
CREATE TABLE vectors (
    vector_key TEXT NOT NULL,
    embedder TEXT NOT NULL,
    vector BLOB NOT NULL,
    checksum TEXT NOT NULL,
    UNIQUE (vector_key, embedder)
);
"""

# Documents that only the indexes still hold, and vectors that may have lost their last leaf: the next index removes
# both, so that its cost is that of the change.
LEFTOVERS = """
CREATE INDEX chunks_by_vector ON chunks (vector_key) WHERE vector_key IS NOT NULL;
CREATE TABLE retired (
    number INTEGER NOT NULL,
    born INTEGER NOT NULL,
    PRIMARY KEY (number, born)
) WITHOUT ROWID;
CREATE TABLE orphans (vector_key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TRIGGER document_retires BEFORE DELETE ON documents BEGIN
    INSERT OR IGNORE INTO retired VALUES (OLD.number, OLD.born);
END;
CREATE TRIGGER edition_retires BEFORE UPDATE OF born ON documents BEGIN
    INSERT OR IGNORE INTO retired VALUES (OLD.number, OLD.born);
END;
CREATE TRIGGER vector_is_left AFTER DELETE ON chunks WHEN OLD.vector_key IS NOT NULL BEGIN
    INSERT OR IGNORE INTO orphans VALUES (OLD.vector_key);
END;
"""

# What a chat model wrote of a document: it belongs to one edition, and goes with it. Made with the first summary: a
# corpus without any has the tables that it always had.
SUMMARY_TABLE = """
CREATE TABLE IF NOT EXISTS summaries (
    doc_id TEXT PRIMARY KEY REFERENCES documents (doc_id) ON DELETE CASCADE,
    digest TEXT NOT NULL,
    text TEXT NOT NULL,
    checksum TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
"""
STALE_SUMMARIES = """
CREATE TRIGGER IF NOT EXISTS summary_is_stale AFTER UPDATE OF digest ON documents WHEN OLD.digest IS NOT NEW.digest
BEGIN
    DELETE FROM summaries WHERE doc_id = OLD.doc_id;
END;
"""

SUMMARIES = SUMMARY_TABLE + STALE_SUMMARIES

TABLES = META + FILES + DOCUMENTS + CHUNKS + CHUNK_INDEXES + VECTORS + LEFTOVERS


def has_summaries(connection: sqlite3.Connection) -> bool:
    """Tell whether a summary was ever kept."""
    sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'summaries'"
    return connection.execute(sql).fetchone() is not None


def kept_summary(connection: sqlite3.Connection) -> str:
    """Return the SQL for the summary that was kept of a row `d` of `documents`, NULL where there is none."""
    kept = "(SELECT s.text FROM summaries s WHERE s.doc_id = d.doc_id AND s.digest = d.digest)"
    return kept if has_summaries(connection) else "NULL"


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of a corpus's tables, 0 where there are none."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def checked_version(connection: sqlite3.Connection) -> int:
    """Return the version of a corpus's tables: this program's, or 0 where there are none.

    Raises:
        CorpusDamagedError: The corpus was written by an earlier or a later Anabranch.
    """
    version = version_of(connection)
    if version not in (0, VERSION):
        # No migration: the user still has the documents and can ingest them again.
        msg = f"The corpus has version {version}; this program reads version {VERSION}."
        hint = "Ingest its documents into a new folder." if version < VERSION else "Update Anabranch."
        raise CorpusDamagedError(msg, hint=hint)
    return version


def prepare(connection: sqlite3.Connection) -> None:
    """Create the tables where they are missing, in one transaction.

    Raises:
        CorpusDamagedError: The corpus was written by an earlier or a later Anabranch.
    """
    if not checked_version(connection):
        # Tables and version are written together: a kill leaves an empty file, which the next run fills.
        connection.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
    # SQLite disables foreign keys for each new connection; without them chunks outlive their document.
    connection.execute("PRAGMA foreign_keys = ON")
