"""A corpus in a folder: one opened generation of it, searched in worker threads."""

from __future__ import annotations

import asyncio
import contextvars
import json
import sqlite3
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from anabranch.corpus.analysis import analyser
from anabranch.corpus.bm25 import BM25Index
from anabranch.corpus.dense import DenseIndex
from anabranch.corpus.document import Chunk
from anabranch.corpus.filters import compile_filters
from anabranch.corpus.generation import Manifest, read_manifest
from anabranch.corpus.store import Arm, CorpusInfo, Place, RankedList, Scope
from anabranch.corpus.truth import DATABASE
from anabranch.errors import CorpusDamagedError
from anabranch.models.embedding import Embedder

T = TypeVar("T")
Mask = NDArray[np.bool_] | None

# Searches are short and numpy and FAISS release the GIL; more threads than this would only wait for cores.
_POOL = ThreadPoolExecutor(max_workers=4, thread_name_prefix="anabranch-corpus")
# A pool of its own: a search that waits for its vectors must not wait for a thread that waits for it. The requests for
# several queries to a hosted embedder run side by side.
_EMBEDDING = ThreadPoolExecutor(max_workers=8, thread_name_prefix="anabranch-embedding")
QUERY_VECTORS = 1_024
MASKS = 32
PARAMETERS = 500


class EmbeddedCorpus:
    """One generation of a corpus folder, implementing `CorpusStore`; open it with `open_corpus`."""

    def __init__(self, folder: Path, name: str, embedder: Embedder) -> None:
        """Open the files; nothing is read into memory that can be mapped.

        Raises:
            CorpusDamagedError: A file is missing or is not what the manifest says.
        """
        self.folder = folder
        self.manifest: Manifest = read_manifest(folder, name)
        self._embedder = embedder
        home = folder / "generations" / name
        try:
            self._rows: NDArray[np.bytes_] = np.load(home / "rows.npy", mmap_mode="r")
            self._owners: NDArray[np.int32] = np.load(home / "row_documents.npy", mmap_mode="r")
            self._documents: list[str] = json.loads((home / "documents.json").read_text(encoding="utf-8"))
            self._bm25 = BM25Index.open(home / "bm25")
            self._dense = DenseIndex.open(home / "dense.faiss")
        except (OSError, ValueError, RuntimeError) as error:
            msg = f"The index {name} cannot be opened: {error}"
            raise CorpusDamagedError(msg, hint="Run `anabranch corpus rebuild`.") from error
        self._analyser = analyser(self.manifest.language)
        if self._analyser.name != self.manifest.analyser:
            msg = (
                f"The index {name} was made with the analyser {self.manifest.analyser!r}, not {self._analyser.name!r}."
            )
            raise CorpusDamagedError(msg, hint="Run `anabranch corpus rebuild`.")
        self._connections: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._masks: OrderedDict[str, Mask] = OrderedDict()
        weakref.finalize(self, _close_all, self._connections)

    @property
    def embedder(self) -> Embedder:
        """The embedder that its vectors were made with."""
        return self._embedder

    @property
    def generation(self) -> int:
        """The generation that this handle searches."""
        return self.manifest.number

    async def info(self) -> CorpusInfo:
        """Count what is in it."""
        return await _in_thread(self._info)

    async def search(self, arm: Arm, queries: Sequence[str], k: int, scope: Scope) -> list[RankedList]:
        """Return one ranked list of leaves per query, filtered before ranking."""
        return await _in_thread(partial(self._search, arm, list(queries), k, scope))

    async def chunks(self, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        """Fetch chunks with their text; ids that are gone or out of scope are absent."""
        return await _in_thread(partial(self._chunks, list(dict.fromkeys(ids)), scope))

    async def children(self, ids: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        """Return each chunk's ids one level down in document order."""
        return await _in_thread(partial(self._children, list(dict.fromkeys(ids)), scope))

    async def places(self, spots: Sequence[tuple[str, int]], scope: Scope) -> list[Place]:
        """Return where each spot is, a document id and a character of its text."""
        return await _in_thread(partial(self._places, list(spots), scope))

    async def idf(self, words: Sequence[str]) -> dict[str, float]:
        """Return the inverse document frequency of each analysed term of `words` that the corpus knows."""
        terms = {term for word in words for term in self._analyser.terms(word)}
        return await _in_thread(lambda: {term: idf for term in terms if (idf := self._bm25.idf(term)) is not None})

    async def analyse(self, text: str) -> list[str]:
        """Return the terms that BM25 sees in `text`."""
        return self._analyser.terms(text)

    def _search(self, arm: Arm, queries: list[str], k: int, scope: Scope) -> list[RankedList]:
        mask = self._mask(scope)
        if not queries or k < 1 or (mask is not None and not mask.any()):
            return [RankedList(ids=[], scores=[]) for _ in queries]
        if arm == "bm25":
            found = self._bm25.search([self._analyser.terms(query) for query in queries], k, mask)
        else:
            found = self._dense.search(np.stack(list(_EMBEDDING.map(self._vector, queries))), k, mask)
        return [
            RankedList(
                ids=[bytes(self._rows[row]).decode("ascii") for row in rows], scores=[float(score) for score in scores]
            )
            for rows, scores in found
        ]

    def _vector(self, query: str) -> NDArray[np.float32]:
        """Embed each query on its own and keep it: the same question is searched again every round and turn."""
        with self._lock:
            known = self._vectors.get(query)
            if known is not None:
                self._vectors.move_to_end(query)
                return known
        vector: NDArray[np.float32] = self._embedder.embed([query])[0]
        with self._lock:
            self._vectors[query] = vector
            while len(self._vectors) > QUERY_VECTORS:
                self._vectors.popitem(last=False)
        return vector

    def _mask(self, scope: Scope) -> Mask:
        """Return which rows may be seen, None for all of them; asked anew once the documents have changed."""
        where, parameters = _visible(scope)
        with self._reading() as connection:
            # Tags may be given while this handle is open; a mask of before must not show what they hide.
            changes = connection.execute("SELECT value FROM meta WHERE name = 'changes'").fetchall()
            key = json.dumps([changes, where, parameters])
            with self._lock:
                if key in self._masks:
                    self._masks.move_to_end(key)
                    return self._masks[key]
            sql = f"SELECT d.doc_id FROM documents d WHERE {where}"  # noqa: S608  # values are parameters
            allowed = {row[0] for row in connection.execute(sql, parameters)}
        per_document = np.array([doc_id in allowed for doc_id in self._documents], dtype=np.bool_)
        mask: Mask = None if per_document.all() else per_document[self._owners]
        with self._lock:
            self._masks[key] = mask
            while len(self._masks) > MASKS:
                self._masks.popitem(last=False)
        return mask

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for one read transaction: all that is read in it is of one moment."""
        with self._lock:
            connection = self._connections.pop() if self._connections else None
        try:
            connection = connection or read_only(self.folder / DATABASE)
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")
        except BaseException as error:
            if connection is not None:
                connection.close()
            if not isinstance(error, sqlite3.DatabaseError):
                raise
            msg = f"{self.folder / DATABASE} cannot be read: {error}"
            raise CorpusDamagedError(msg, hint="Run `anabranch corpus verify`.") from error
        with self._lock:
            self._connections.append(connection)

    def _chunks(self, ids: list[str], scope: Scope) -> dict[str, Chunk]:
        sql = (
            "SELECT c.chunk_id, c.doc_id, d.key, d.source, d.title, c.heading, c.page, c.page_end, c.level, "
            'c.parent_id, c.start, c."end", c.text, c.tokens '
            "FROM chunks c JOIN documents d USING (doc_id) WHERE c.chunk_id IN ({ids}) AND {where}"
        )
        with self._reading() as connection:
            rows = _batched(connection, sql, ids, scope)
            found = {row[0]: _with_text(connection, Chunk(*row)) for row in rows}
        return {chunk_id: found[chunk_id] for chunk_id in ids if chunk_id in found}

    def _children(self, ids: list[str], scope: Scope) -> dict[str, list[str]]:
        sql = (
            "SELECT c.parent_id, c.chunk_id FROM chunks c JOIN documents d USING (doc_id) "
            "WHERE c.parent_id IN ({ids}) AND {where} ORDER BY c.parent_id, c.position"
        )
        result: dict[str, list[str]] = {}
        with self._reading() as connection:
            for parent, child in _batched(connection, sql, ids, scope):
                result.setdefault(parent, []).append(child)
        return {chunk_id: result[chunk_id] for chunk_id in ids if chunk_id in result}

    def _places(self, spots: list[tuple[str, int]], scope: Scope) -> list[Place]:
        where, parameters = _visible(scope)
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

    def _info(self) -> CorpusInfo:
        manifest = self.manifest
        home = self.folder / "generations" / manifest.name
        size = sum(path.stat().st_size for path in [self.folder / DATABASE, *home.rglob("*")] if path.is_file())
        return CorpusInfo(
            path=str(self.folder), generation=manifest.number, documents=manifest.documents, chunks=manifest.chunks,
            leaves=manifest.leaves, tokens=manifest.tokens, embedder=manifest.embedder, dimension=manifest.dimension,
            bytes=size,
        )  # fmt: skip


def _visible(scope: Scope) -> tuple[str, list[Any]]:
    """Return the SQL condition on documents that a scope stands for: access first, the caller's filters on top."""
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


def _batched(connection: sqlite3.Connection, sql: str, ids: Sequence[str], scope: Scope) -> list[tuple[Any, ...]]:
    where, parameters = _visible(scope)
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


async def _in_thread(work: Callable[[], T]) -> T:
    # As `asyncio.to_thread` does: meters and the like travel in context variables.
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_POOL, context.run, work)
