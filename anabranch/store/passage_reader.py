"""The read side of the database: which documents a scope lets through, and the text of chunks."""

from __future__ import annotations

import asyncio
import contextvars
import json
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial, wraps
from types import CoroutineType
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from anabranch.readers.document import Chunk
from anabranch.store.access_scope import scope_condition
from anabranch.store.corpus_facts import history_in
from anabranch.store.filter_sql import LISTED
from anabranch.store.protocol import LOOKED_AT, MAX_METADATA, Original, Outline, Place, Scope
from anabranch.store.records import digest_of, embedded_text, summary_of, text_key
from anabranch.store.schema import kept_summary
from anabranch.text.analyzer import Analyser

P = ParamSpec("P")
T = TypeVar("T")

# Searches are short, and numpy and FAISS release the GIL; more threads would only wait for cores.
_POOL = ThreadPoolExecutor(max_workers=4, thread_name_prefix="anabranch-corpus")


def run_in_thread(work: Callable[P, T]) -> Callable[P, CoroutineType[Any, Any, T]]:
    """Make a blocking method a coroutine that runs in a worker thread."""

    @wraps(work)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        # Copies the context as `asyncio.to_thread` does, for meters travel in context variables.
        call = partial(contextvars.copy_context().run, work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(_POOL, call)

    return run  # type: ignore[return-value]  # mypy takes what an async function returns for any Coroutine


class Passages:
    """Reads a corpus's database from any thread; each call borrows one connection and sees one moment."""

    def __init__(self, lend: Callable[[], AbstractContextManager[sqlite3.Connection]], words: Analyser) -> None:
        """Take a function that lends a connection without a concurrent writer, and the analyser."""
        self._lend = lend
        self._analyser = words

    def changes(self) -> int:
        """Return how often the documents have changed."""
        with self._lend() as connection:
            return history_in(connection).changes

    def allowed(self, scope: Scope, changes: int) -> tuple[int, NDArray[np.int64] | None]:
        """Return the numbers of the documents that a scope lets through.

        Args:
            scope: The caller's access tags and filters.
            changes: The count of changes at which the caller knows every document.

        Returns:
            The count of changes of the answer, and the numbers; None for all that the caller knows.
        """
        where, parameters = scope_condition(scope)
        with self._lend() as connection:
            now = history_in(connection).changes
            # Most corpora have no tags and most questions no filter: they need no list of documents.
            restricted = connection.execute("SELECT 1 FROM documents WHERE access != '[]' LIMIT 1").fetchone()
            if restricted is None and not scope.filters and now == changes:
                return now, None
            sql = f"SELECT d.number FROM documents d WHERE {where}"  # noqa: S608  # values are parameters
            numbers = (row[0] for row in connection.execute(sql, parameters))
            return now, np.fromiter(numbers, dtype=np.int64)

    @run_in_thread
    def chunks(self, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        """Return chunks with their text, in the order asked for; those that are gone or out of scope are absent.

        Raises:
            CorpusDamagedError: The text of one is not what was written.
        """
        sql = (
            "SELECT c.chunk_id, c.doc_id, d.key, d.source, d.title, c.heading, c.page, c.page_end, c.level, "
            'c.parent_id, c.start, c."end", c.text, c.tokens, c.position, c.vector_key '
            "FROM chunks c JOIN documents d USING (doc_id) WHERE c.chunk_id IN {ids} AND {where}"
        )
        with self._lend() as connection:
            rows = _rows(connection, sql, ids, scope)
            found = {row[0]: _with_text(connection, Chunk(*row[:-2]), *row[-2:]) for row in rows}
        return {chunk_id: found[chunk_id] for chunk_id in ids if chunk_id in found}

    def owners(self, ids: Sequence[str], scope: Scope) -> dict[str, int]:
        """Return the number of the document of each leaf; those that are gone or out of scope are absent."""
        sql = (
            "SELECT c.chunk_id, d.number FROM chunks c JOIN documents d USING (doc_id) "
            "WHERE c.chunk_id IN {ids} AND c.level = 2 AND {where}"
        )
        with self._lend() as connection:
            return dict(_rows(connection, sql, ids, scope))

    @run_in_thread
    def analyse(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the terms that BM25 sees in each text."""
        return [self._analyser.terms(text) for text in texts]

    @run_in_thread
    def children(self, ids: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        """Return each chunk's ids one level down in document order."""
        sql = (
            "SELECT c.parent_id, c.chunk_id FROM chunks c JOIN documents d USING (doc_id) "
            "WHERE c.parent_id IN {ids} AND {where} ORDER BY c.parent_id, c.position"
        )
        result: dict[str, list[str]] = {}
        with self._lend() as connection:
            for parent, child in _rows(connection, sql, ids, scope):
                result.setdefault(parent, []).append(child)
        return {chunk_id: result[chunk_id] for chunk_id in ids if chunk_id in result}

    @run_in_thread
    def outlines(self, scope: Scope, most: int) -> list[Outline]:
        """Return the documents of a scope at a glance, by source; no more than `most`."""
        where, parameters = scope_condition(scope)
        with self._lend() as connection:
            sql = (
                f"SELECT d.doc_id, d.title, json_extract(d.metadata, '$.summary'), {kept_summary(connection)}, "  # noqa: S608  # values are parameters
                "(SELECT count(*) FROM chunks c WHERE c.doc_id = d.doc_id AND c.level = 2) "
                f"FROM documents d WHERE {where} ORDER BY d.source LIMIT ?"
            )
            found = connection.execute(sql, [*parameters, most]).fetchall()
        return [
            Outline(doc_id, title, summary_of(own) or summary_of(kept), leaves)
            for doc_id, title, own, kept, leaves in found
        ]

    @run_in_thread
    def sample_metadata(self, scope: Scope, most: int) -> list[dict[str, Any]]:
        """Return the metadata of documents in scope, with their titles; at most `most` of them."""
        where, parameters = scope_condition(scope)
        # An id is a hash, so their order is random, and the index has it.
        sql = (
            "SELECT d.metadata, d.title FROM (SELECT * FROM documents ORDER BY doc_id LIMIT ?) d "  # noqa: S608  # values are parameters
            f"WHERE length(d.metadata) <= ? AND {where} ORDER BY d.doc_id LIMIT ?"
        )
        with self._lend() as connection:
            rows = connection.execute(sql, [LOOKED_AT * most, MAX_METADATA, *parameters, most]).fetchall()
        try:
            return [{**json.loads(metadata), "title": title} for metadata, title in rows]
        except (TypeError, ValueError) as error:
            raise sqlite3.DatabaseError("the metadata of a document cannot be read") from error

    @run_in_thread
    def leaves(self, doc_ids: Sequence[str], scope: Scope, most: int) -> dict[str, list[str]]:
        """Return the ids of the first `most` leaves of each document in its order."""
        where, parameters = scope_condition(scope)
        sql = (
            "SELECT c.chunk_id FROM chunks c JOIN documents d USING (doc_id) "  # noqa: S608  # values are parameters
            f"WHERE c.doc_id = ? AND c.level = 2 AND {where} ORDER BY c.start LIMIT ?"
        )
        result: dict[str, list[str]] = {}
        with self._lend() as connection:
            for doc_id in dict.fromkeys(doc_ids):
                if found := connection.execute(sql, [doc_id, *parameters, most]).fetchall():
                    result[doc_id] = [chunk_id for (chunk_id,) in found]
        return result

    @run_in_thread
    def originals(self, doc_ids: Sequence[str], scope: Scope) -> dict[str, Original]:
        """Return the file of each document, in the order asked for; one that is gone or out of scope is absent."""
        # A file has a row unless an import brought its documents without it.
        sql = (
            "SELECT d.doc_id, d.source, d.title, d.path, coalesce(f.sha256, ''), d.pages, "
            "coalesce(f.source, d.source), d.access FROM documents d "
            "LEFT JOIN files f ON f.path = d.path WHERE d.doc_id IN {ids} AND {where}"
        )
        with self._lend() as connection:
            rows = _rows(connection, sql, doc_ids, scope)
        found = {
            doc_id: Original(source, title, path, sha256, _last_page(pages), file, tuple(json.loads(access)))
            for doc_id, source, title, path, sha256, pages, file, access in rows
        }
        return {doc_id: found[doc_id] for doc_id in doc_ids if doc_id in found}

    @run_in_thread
    def places(self, spots: Sequence[tuple[str, int]], scope: Scope) -> list[Place]:
        """Return where each spot is, a document id and a character of its text."""
        where, parameters = scope_condition(scope)
        # Only constants are formatted in; values stay parameters.
        sql = (
            "SELECT c.heading, d.pages, d.path FROM chunks c JOIN documents d USING (doc_id) "  # noqa: S608
            f"WHERE c.doc_id = ? AND c.level = 2 AND c.start <= ? AND {where} ORDER BY c.start DESC LIMIT 1"
        )
        places = []
        with self._lend() as connection:
            for doc_id, position in spots:
                rows = connection.execute(sql, [doc_id, position, *parameters]).fetchall()
                heading, pages, path = rows[0] if rows else ("", "[]", "")
                before = [page for start, page in _parse_pages(pages) if start <= position]
                places.append(Place(before[-1] if before else None, heading, path))
        return places


def _rows(connection: sqlite3.Connection, sql: str, ids: Sequence[str], scope: Scope) -> list[tuple[Any, ...]]:
    where, parameters = scope_condition(scope)
    return connection.execute(sql.format(ids=LISTED, where=where), [json.dumps(list(ids)), *parameters]).fetchall()


def _with_text(connection: sqlite3.Connection, chunk: Chunk, position: int, vector_key: str | None) -> Chunk:
    """Return a chunk with its text, after checking the text against the id, which is its hash.

    A parent stores no text: its leaves have it.
    """
    text = chunk.text
    if chunk.level != 2:
        sql = "SELECT text FROM chunks WHERE doc_id = ? AND level = 2 AND start >= ? AND start < ? ORDER BY start"
        leaves = connection.execute(sql, (chunk.doc_id, chunk.start, chunk.end)).fetchall()
        text = "".join(str(row[0]) for row in leaves)
    is_whole = chunk.chunk_id == digest_of(chunk.doc_id, f"{chunk.level}/{position}", str(text))
    if is_whole and chunk.level == 2:
        is_whole = vector_key == text_key(embedded_text(str(chunk.title), str(chunk.heading), str(text)))
    if not is_whole:
        raise sqlite3.DatabaseError(f"a passage of {chunk.source!r} is not what was written")
    return replace(chunk, text=text)


def _last_page(pages: str) -> int:
    return max((page for _, page in _parse_pages(pages)), default=0)


def _parse_pages(pages: str) -> list[tuple[int, int]]:
    try:
        return [(int(start), int(page)) for start, page in json.loads(pages)]
    except (TypeError, ValueError) as error:
        raise sqlite3.DatabaseError("the pages of a document cannot be read") from error
