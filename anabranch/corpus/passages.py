"""The read side of the database: which documents a scope lets through, and the text of chunks."""

from __future__ import annotations

import json
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from anabranch.corpus.document import Chunk
from anabranch.corpus.filters import compile_filters
from anabranch.corpus.store import Place, Scope
from anabranch.corpus.truth import DATABASE
from anabranch.errors import CorpusDamagedError

PARAMETERS = 500


class Passages:
    """Reads a corpus's database from any thread; each call is one read transaction, so of one moment."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of the corpus; connections are opened as they are needed, and kept."""
        self._database = folder / DATABASE
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _close_all, self._idle)

    @property
    def bytes(self) -> int:
        """Size of the database on disk."""
        return self._database.stat().st_size

    def changes(self) -> int:
        """Return how often the documents have changed."""
        with self._reading() as connection:
            return _changes(connection)

    def allowed(self, scope: Scope, changes: int) -> tuple[int, NDArray[np.int64] | None]:
        """Return the numbers of the documents that a scope lets through.

        Args:
            scope: Who asks for what.
            changes: The count of changes at which the asker knows of every document.

        Returns:
            The count of changes that the answer is of, and the numbers; None if it is all that the asker knows of.
        """
        where, parameters = visible(scope)
        with self._reading() as connection:
            now = _changes(connection)
            restricted = connection.execute("SELECT 1 FROM documents WHERE access != '[]' LIMIT 1").fetchone()
            if restricted is None and not scope.filters and now == changes:
                return now, None
            sql = f"SELECT d.number FROM documents d WHERE {where}"  # noqa: S608  # values are parameters
            numbers = (row[0] for row in connection.execute(sql, parameters))
            return now, np.fromiter(numbers, dtype=np.int64)

    def chunks(self, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        """Return chunks with their text, in the order asked for; those that are gone or out of scope are absent."""
        sql = (
            "SELECT c.chunk_id, c.doc_id, d.key, d.source, d.title, c.heading, c.page, c.page_end, c.level, "
            'c.parent_id, c.start, c."end", c.text, c.tokens '
            "FROM chunks c JOIN documents d USING (doc_id) WHERE c.chunk_id IN ({ids}) AND {where}"
        )
        with self._reading() as connection:
            rows = _batched(connection, sql, ids, scope)
            found = {row[0]: _with_text(connection, Chunk(*row)) for row in rows}
        return {chunk_id: found[chunk_id] for chunk_id in ids if chunk_id in found}

    def children(self, ids: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        """Return each chunk's ids one level down in document order."""
        sql = (
            "SELECT c.parent_id, c.chunk_id FROM chunks c JOIN documents d USING (doc_id) "
            "WHERE c.parent_id IN ({ids}) AND {where} ORDER BY c.parent_id, c.position"
        )
        result: dict[str, list[str]] = {}
        with self._reading() as connection:
            for parent, child in _batched(connection, sql, ids, scope):
                result.setdefault(parent, []).append(child)
        return {chunk_id: result[chunk_id] for chunk_id in ids if chunk_id in result}

    def places(self, spots: Sequence[tuple[str, int]], scope: Scope) -> list[Place]:
        """Return where each spot is, a document id and a character of its text."""
        where, parameters = visible(scope)
        # Only this program's own words are put in here; values stay parameters.
        sql = (
            "SELECT c.heading, d.pages FROM chunks c JOIN documents d USING (doc_id) "  # noqa: S608
            f"WHERE c.doc_id = ? AND c.level = 2 AND c.start <= ? AND {where} ORDER BY c.start DESC LIMIT 1"
        )
        places = []
        with self._reading() as connection:
            for doc_id, position in spots:
                rows = connection.execute(sql, [doc_id, position, *parameters]).fetchall()
                heading, pages = rows[0] if rows else ("", "[]")
                before = [page for start, page in json.loads(pages) if start <= position]
                places.append(Place(before[-1] if before else None, heading))
        return places

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for one read transaction: all that is read in it is of one moment."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        try:
            connection = connection or read_only(self._database)
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")
        except BaseException as error:
            if connection is not None:
                connection.close()
            if not isinstance(error, sqlite3.DatabaseError):
                raise
            msg = f"{self._database} cannot be read: {error}"
            raise CorpusDamagedError(msg, hint="Run `anabranch corpus verify`.") from error
        with self._lock:
            self._idle.append(connection)


def read_only(database: Path) -> sqlite3.Connection:
    """Open a database that this process must not change; the caller closes it."""
    uri = f"file:{quote(str(database))}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=30, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM meta").fetchone()
    except sqlite3.OperationalError:
        # A folder that cannot be written to cannot hold the write-ahead log's index either.
        connection.close()
        connection = sqlite3.connect(f"{uri}&immutable=1", uri=True, check_same_thread=False, isolation_level=None)
    except BaseException:
        connection.close()
        raise
    return connection


def visible(scope: Scope) -> tuple[str, list[Any]]:
    """Return the SQL condition on documents that a scope stands for: access first, the caller's filters on top.

    Raises:
        SettingsError: The filters are malformed.
    """
    parts, parameters = ["d.access = '[]'"], []
    if scope.access:
        marks = ",".join("?" * len(scope.access))
        parts.append(f"EXISTS (SELECT 1 FROM json_each(d.access) WHERE value IN ({marks}))")  # noqa: S608
        parameters += list(scope.access)
    where = f"({' OR '.join(parts)})"
    if scope.filters:
        narrowed = compile_filters(scope.filters)
        return f"{where} AND {narrowed.sql}", [*parameters, *narrowed.parameters]
    return where, parameters


def _changes(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT value FROM meta WHERE name = 'changes'").fetchone()
    return int(row[0]) if row else 0


def _batched(connection: sqlite3.Connection, sql: str, ids: Sequence[str], scope: Scope) -> list[tuple[Any, ...]]:
    where, parameters = visible(scope)
    found: list[tuple[Any, ...]] = []
    for start in range(0, len(ids), PARAMETERS):
        part = ids[start : start + PARAMETERS]
        marks = ",".join("?" * len(part))
        found += connection.execute(sql.format(ids=marks, where=where), [*part, *parameters]).fetchall()
    return found


def _with_text(connection: sqlite3.Connection, chunk: Chunk) -> Chunk:
    """Join the leaves of a parent, which has no text of its own in the database."""
    if chunk.level == 2:
        return chunk
    sql = "SELECT text FROM chunks WHERE doc_id = ? AND level = 2 AND start >= ? AND start < ? ORDER BY start"
    leaves = connection.execute(sql, (chunk.doc_id, chunk.start, chunk.end))
    return replace(chunk, text="".join(row[0] for row in leaves))


def _close_all(connections: list[sqlite3.Connection]) -> None:
    for connection in connections:
        connection.close()
