"""Copies what can be read of a damaged database into a sound one, row by row."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from anabranch.corpus.portable.pages import Pages, Value
from anabranch.corpus.schema import prepare

_ID = re.compile(r"[0-9a-f]{16}")
_BATCH = 1_000
_DOCUMENT = "INSERT OR IGNORE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_CHUNK = "INSERT OR IGNORE INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def salvaged(database: Path, copy: Path) -> sqlite3.Connection:
    """Return a new database at `copy` with the documents and chunks of a damaged one, whole or not.

    Raises:
        OSError: The file itself cannot be read.
    """
    connection = sqlite3.connect(copy, isolation_level=None)
    prepare(connection)
    # A chunk may have lost its document, and nothing here has to outlive a power cut.
    connection.executescript(
        "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN;"
    )
    with Pages(database) as pages:
        rows = pages.rows()
        while found := list(islice(rows, _BATCH)):
            documents = (_as_document(rowid, values) for rowid, values in found)
            connection.executemany(_DOCUMENT, [document for document in documents if document is not None])
            connection.executemany(_CHUNK, [values for _, values in found if _is_chunk(values)])
    connection.execute("COMMIT")
    return connection


def _as_document(rowid: int, values: list[Value]) -> Sequence[Value] | None:
    """Return a row as this version's table has it; the first version knew neither number nor birth."""
    if len(values) == 12 and values[0] is None and _is_id(values[1]):
        return [rowid, *values[1:]]
    if len(values) == 10 and _is_id(values[0]) and not _is_id(values[1]):
        return [rowid, values[0], 0, *values[1:]]
    return None


def _is_chunk(values: list[Value]) -> bool:
    return len(values) == 13 and _is_id(values[0]) and _is_id(values[1])


def _is_id(value: Value) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None
