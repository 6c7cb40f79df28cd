"""What the first line of an export says, also where the database does not tell any more."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from anabranch.chunking.hierarchical_chunker import Sizes, checked_sizes
from anabranch.errors import CorpusDamagedError, SettingsError
from anabranch.store.export.json_lines import Header
from anabranch.store.index.manifest import Manifest, current, read_manifest


def header_of_corpus(folder: Path, connection: sqlite3.Connection | None, *, vectors: bool) -> Header:
    """Return the first line for a corpus; what the database cannot say, its index may.

    Args:
        folder: The corpus.
        connection: Its database, None where that cannot be opened.
        vectors: Whether the vectors are wanted.
    """
    manifest = _manifest(folder)
    embedder = _meta(connection, "embedder") or (manifest.embedder if manifest else "")
    dimension = manifest.dimension if manifest else _dimension(connection, embedder)
    documents = _one(connection, "SELECT count(*) FROM documents")
    if not isinstance(documents, int):
        documents = manifest.documents if manifest else None
    return Header(
        embedder=embedder,
        dimension=dimension,
        sizes=_sizes(_meta(connection, "sizes")),
        language=_meta(connection, "language") or (manifest.language if manifest else "english"),
        documents=documents,
        vectors=vectors and dimension > 0,
    )


def _manifest(folder: Path) -> Manifest | None:
    try:
        name = current(folder)
        return read_manifest(folder, name) if name is not None else None
    except CorpusDamagedError:
        return None


def _meta(connection: sqlite3.Connection | None, name: str) -> str:
    value = _one(connection, "SELECT value FROM meta WHERE name = ?", name)
    return value if isinstance(value, str) else ""


def _dimension(connection: sqlite3.Connection | None, embedder: str) -> int:
    length = _one(connection, "SELECT length(vector) FROM vectors WHERE embedder = ? LIMIT 1", embedder)
    return length // 4 if isinstance(length, int) else 0


def _one(connection: sqlite3.Connection | None, sql: str, *parameters: str) -> object:
    try:
        row = connection.execute(sql, parameters).fetchone() if connection is not None else None
    except sqlite3.DatabaseError:
        return None
    return row[0] if row else None


def _sizes(text: str) -> Sizes | None:
    try:
        return checked_sizes(json.loads(text))
    except (ValueError, TypeError, SettingsError):
        return None
