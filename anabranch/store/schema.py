"""The tables of a corpus. SQLite is the one truth; everything else in the folder can be made from it again."""

from __future__ import annotations

import sqlite3

from anabranch.errors import CorpusDamagedError

VERSION = 2

META = """
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
"""

# One row per file that was taken in: what lets a second run skip it, and notice that it is gone. An empty digest means
# that it has to be read again. `access` is what was given with it; `stamp` is what the file system said of it.
FILES = """
CREATE TABLE files (
    path TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    access TEXT NOT NULL,
    stamp TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
"""

# `number` is a document's name in the indexes, never used again. `born` is the count of changes at which its leaves
# came: two leaves of one number and different births are of two editions.
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
    pages TEXT NOT NULL  -- [[first character, page], ...]: a leaf may run over a page's end, a quote is on one page
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

# Vectors by what was embedded, so that text that moves or comes back is never embedded again. With row ids, two
# vectors share a page and lie in the order they came in; without, each would spill into a page of its own.
VECTORS = """
CREATE TABLE vectors (
    vector_key TEXT NOT NULL,
    embedder TEXT NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (vector_key, embedder)
);
"""

# What the indexes still hold and the documents do not, and vectors that may have lost their last leaf: both are worked
# off by the next index, so that its cost is that of the change.
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

_TO_2_BEFORE = """
ALTER TABLE documents RENAME TO documents_1;
ALTER TABLE chunks RENAME TO chunks_1;
ALTER TABLE vectors RENAME TO vectors_1;
DROP INDEX documents_by_path;
DROP INDEX chunks_by_document;
DROP INDEX chunks_by_parent;
"""
_TO_2_AFTER = """
INSERT INTO documents (doc_id, born, path, source, key, title, digest, metadata, access, tokens, pages)
    SELECT doc_id, 0, path, source, key, title, digest, metadata, access, tokens, pages FROM documents_1 ORDER BY rowid;
INSERT INTO chunks SELECT * FROM chunks_1;
INSERT INTO vectors SELECT * FROM vectors_1;
DROP TABLE chunks_1;
DROP TABLE documents_1;
DROP TABLE vectors_1;
DROP TABLE analysed;
ALTER TABLE files ADD COLUMN stamp TEXT NOT NULL DEFAULT '';
"""

MIGRATIONS: dict[int, str] = {
    0: META + FILES + DOCUMENTS + CHUNKS + CHUNK_INDEXES + VECTORS + LEFTOVERS,
    1: _TO_2_BEFORE + DOCUMENTS + CHUNKS + VECTORS + _TO_2_AFTER + CHUNK_INDEXES + LEFTOVERS,
}
"""By the version they start from; version 0 is an empty file and goes straight to the newest."""


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of a corpus's tables, 0 where there are none."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def prepare(connection: sqlite3.Connection) -> None:
    """Create the tables where they are missing, bring those of an earlier version up, refuse those of a later one.

    Each step is one transaction: a kill in the middle leaves the version before.

    Raises:
        CorpusDamagedError: The corpus was written by a newer Anabranch.
    """
    version = version_of(connection)
    if version > VERSION:
        msg = f"The corpus has version {version}; this program knows versions up to {VERSION}."
        raise CorpusDamagedError(msg, hint="Update Anabranch.")
    while version < VERSION:
        reached = VERSION if version == 0 else version + 1
        # Renaming a table must not bend the references of the others to it.
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA legacy_alter_table = ON")
        connection.executescript(f"BEGIN IMMEDIATE; {MIGRATIONS[version]} PRAGMA user_version = {reached}; COMMIT;")
        connection.execute("PRAGMA legacy_alter_table = OFF")
        version = reached
    connection.execute("PRAGMA foreign_keys = ON")
