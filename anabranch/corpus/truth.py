"""The write side of a corpus: documents, their chunk trees and vectors in one SQLite file."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anabranch.corpus.document import Document
from anabranch.corpus.schema import prepare
from anabranch.corpus.tree import Tree
from anabranch.errors import CorpusDamagedError
from anabranch.models.embedding import Vectors

DATABASE = "corpus.db"

# What stands in front of a leaf must leave it room in the 256 tokens that the bundled embedder sees.
LONGEST_TITLE = 160
LONGEST_HEADING = 240


def digest_of(*parts: str) -> str:
    """Return 16 hex characters that name the parts; the separator cannot occur in text that was read."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def text_key(text: str) -> str:
    """Return 32 hex characters that name a text; longer than an id, because whoever shares it shares its vector."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def content_digest(document: Document) -> str:
    """Name everything of a document that the corpus keeps, so that an unchanged one is left alone."""
    blocks = [[block.text, block.page, block.heading, block.is_heading] for block in document.blocks]
    facts = [document.title, document.key, _plain(document.metadata), document.access, blocks]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def embedded_text(title: str, heading: str, text: str) -> str:
    """Return what both arms see of a leaf: title and heading path in front, which say what the words are about."""
    title, heading = title[:LONGEST_TITLE], heading[-LONGEST_HEADING:]
    head = heading if heading.startswith(title) else " > ".join(part for part in (title, heading) if part)
    return f"{head}\n{text.strip()}" if head else text.strip()


@dataclass(frozen=True, slots=True)
class Grown:
    """A document with its tree, ready to be written once its leaves have vectors."""

    document: Document
    tree: Tree
    digest: str
    path: str

    @property
    def leaves(self) -> list[str]:
        """What is embedded, one text per leaf in document order."""
        title = self.document.title
        return [embedded_text(title, node.heading, node.text) for node in self.tree.nodes if node.level == 2]


class FileRecord(NamedTuple):
    """A file that was taken in.

    Attributes:
        path: Where it lies.
        source: What a person calls it.
        sha256: Of its bytes; empty if it has to be read again.
        access: The tags that were given with it.
        documents: Ids of all documents that it holds; None where that is not known.
    """

    path: str
    source: str
    sha256: str
    access: tuple[str, ...]
    documents: frozenset[str] | None


class Truth:
    """One writer's connection."""

    def __init__(self, folder: Path) -> None:
        """Open the database, creating it where it is missing.

        Raises:
            CorpusDamagedError: The file is no database, or of a later version.
        """
        self.connection = sqlite3.connect(folder / DATABASE, isolation_level=None, timeout=30)
        try:
            self.connection.execute("PRAGMA journal_mode = WAL")
            # In WAL mode only FULL syncs at each commit: what was committed outlives a power cut, too.
            self.connection.execute("PRAGMA synchronous = FULL")
            self.connection.execute("PRAGMA foreign_keys = ON")
            prepare(self.connection)
        except (sqlite3.DatabaseError, CorpusDamagedError) as error:
            self.connection.close()
            if isinstance(error, CorpusDamagedError):
                raise
            msg = f"{folder / DATABASE} cannot be read: {error}"
            raise CorpusDamagedError(msg, hint="Restore it from a copy, or ingest into a new folder.") from error

    def close(self) -> None:
        """Close, moving what is in the log into the database file."""
        try:
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[Callable[[], None]]:
        """Commit all of it or nothing; whoever changes what searches see calls what this yields, which counts it."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield lambda: self.set_meta("changes", str(self.changes + 1))
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def meta(self, name: str) -> str | None:
        """Return one fact about the corpus."""
        row = self.connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def set_meta(self, name: str, value: str) -> None:
        """Keep one fact about the corpus."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    @property
    def changes(self) -> int:
        """How often the documents have changed; an index made at another count is out of date."""
        return int(self.meta("changes") or 0)

    def all(self, sql: str, *parameters: Any) -> list[Any]:  # noqa: ANN401  # rows of any shape
        """Return all rows."""
        return self.connection.execute(sql, parameters).fetchall()

    def one(self, sql: str, *parameters: Any) -> Any:  # noqa: ANN401  # a row of any shape
        """Return the first row, or None."""
        return self.connection.execute(sql, parameters).fetchone()

    def missing_vectors(self, texts: Sequence[str], embedder: str) -> dict[str, str]:
        """Return the texts that have no vector yet, by their key."""
        by_key = {text_key(text): text for text in texts}
        known: set[str] = set()
        keys = list(by_key)
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500]
            marks = ",".join("?" * len(part))
            sql = f"SELECT vector_key FROM vectors WHERE embedder = ? AND vector_key IN ({marks})"  # noqa: S608
            known.update(row[0] for row in self.connection.execute(sql, (embedder, *part)))
        return {key: text for key, text in by_key.items() if key not in known}

    def add_vectors(self, keys: Sequence[str], vectors: Vectors, embedder: str) -> None:
        """Keep vectors; they count for nothing until a leaf names them."""
        rows = [(key, embedder, row.astype(np.float32).tobytes()) for key, row in zip(keys, vectors, strict=True)]
        with self.transaction():
            self.connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)

    def terms_of(self, keys: Sequence[str], analyser: str) -> dict[str, str]:
        """Return the kept terms of these texts, joined by spaces."""
        marks = ",".join("?" * len(keys))
        sql = f"SELECT vector_key, terms FROM analysed WHERE analyser = ? AND vector_key IN ({marks})"  # noqa: S608
        return dict(self.connection.execute(sql, (analyser, *keys)))

    def add_terms(self, terms: Mapping[str, str], analyser: str) -> None:
        """Keep terms by the key of their text."""
        rows = [(key, analyser, joined) for key, joined in terms.items()]
        with self.transaction():
            self.connection.executemany("INSERT OR IGNORE INTO analysed VALUES (?, ?, ?)", rows)

    def forget_unused(self) -> None:
        """Drop vectors and terms of texts that no leaf has any more, and vectors of former embedders."""
        used = "(SELECT vector_key FROM chunks WHERE vector_key IS NOT NULL)"
        with self.transaction():
            self.connection.execute(
                f"DELETE FROM vectors WHERE embedder != ? OR vector_key NOT IN {used}",  # noqa: S608  # a constant
                (self.meta("embedder") or "",),
            )
            self.connection.execute(f"DELETE FROM analysed WHERE vector_key NOT IN {used}")  # noqa: S608  # a constant

    def file(self, path: str) -> FileRecord | None:
        """Return what is known of a file that was taken in."""
        row = self.one("SELECT path, source, sha256, access FROM files WHERE path = ?", path)
        return FileRecord(row[0], row[1], row[2], tuple(json.loads(row[3])), None) if row else None

    def counts(self, path: str) -> tuple[int, int]:
        """Return how many documents and chunks a file holds."""
        chunks = "SELECT count(*) FROM chunks JOIN documents USING (doc_id) WHERE path = ?"
        return self.one("SELECT count(*) FROM documents WHERE path = ?", path)[0], self.one(chunks, path)[0]

    def holds(self, doc_id: str, digest: str, path: str) -> bool:
        """Tell whether a document is here exactly as it is in its file."""
        sql = "SELECT 1 FROM documents WHERE doc_id = ? AND digest = ? AND path = ?"
        return self.one(sql, doc_id, digest, path) is not None

    def path_of(self, source: str) -> str | None:
        """Return the file that a document is from, None where there is no such document."""
        row = self.one("SELECT path FROM documents WHERE source = ?", source)
        return row[0] if row else None

    def write(self, batch: Sequence[Grown], files: Sequence[FileRecord]) -> dict[str, int]:
        """Replace documents, and record the files that are finished by them, all in one transaction.

        Returns:
            How many documents of each file were removed because it does not hold them any more.
        """
        removed: dict[str, int] = {}
        with self.transaction() as changing:
            for grown in batch:
                self._replace(grown)
            for record in files:
                removed[record.path] = self._finish(record)
            if batch or any(removed.values()):
                changing()
        return removed

    def _finish(self, record: FileRecord) -> int:
        self.connection.execute(
            "INSERT OR REPLACE INTO files (path, source, sha256, access) VALUES (?, ?, ?, ?)",
            (record.path, record.source, record.sha256, json.dumps(record.access)),
        )
        if record.documents is None:
            return 0
        held = [row[0] for row in self.all("SELECT doc_id FROM documents WHERE path = ?", record.path)]
        gone = [(doc_id,) for doc_id in held if doc_id not in record.documents]
        self.connection.executemany("DELETE FROM documents WHERE doc_id = ?", gone)
        return len(gone)

    def remove_file(self, path: str) -> int:
        """Remove a file and its documents; return how many those were."""
        with self.transaction() as changing:
            changing()
            removed = self.connection.execute("DELETE FROM documents WHERE path = ?", (path,)).rowcount
            self.connection.execute("DELETE FROM files WHERE path = ?", (path,))
        return removed

    def _replace(self, grown: Grown) -> None:
        document = grown.document
        doc_id = digest_of(document.source)
        self.connection.execute("DELETE FROM documents WHERE doc_id = ?", (doc_id,))
        self.connection.execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                doc_id,
                grown.path,
                document.source,
                document.key or document.source,
                document.title,
                grown.digest,
                json.dumps(_plain(document.metadata), ensure_ascii=False, sort_keys=True),
                json.dumps(sorted(document.access)),
                sum(node.tokens for node in grown.tree.nodes if node.level == 0),
                json.dumps(_pages(grown)),
            ),
        )
        self.connection.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _rows(doc_id, grown)
        )

    def remove_documents(self, doc_ids: Sequence[str]) -> int:
        """Remove documents; a file that loses one is read again by the next run that meets it."""
        removed = 0
        with self.transaction() as changing:
            changing()
            for doc_id in doc_ids:
                of_file = "path = (SELECT path FROM documents WHERE doc_id = ?)"
                self.connection.execute(f"UPDATE files SET sha256 = '' WHERE {of_file}", (doc_id,))  # noqa: S608
                removed += self.connection.execute("DELETE FROM documents WHERE doc_id = ?", (doc_id,)).rowcount
        return removed


def _pages(grown: Grown) -> list[tuple[int, int]]:
    """Return where in the text each page begins, for formats that have pages."""
    starts: list[tuple[int, int]] = []
    position = 0
    for block in grown.document.blocks:
        found = grown.tree.text.find(block.text, position)
        position = found if found >= 0 else position
        if block.page is not None and (not starts or starts[-1][1] != block.page):
            starts.append((position, block.page))
        position += len(block.text) if found >= 0 else 0
    return starts


def _plain(value: Any) -> Any:  # noqa: ANN401  # metadata of any shape
    """Return what SQLite takes for JSON: one number that is not finite would break every filter of the corpus."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _rows(doc_id: str, grown: Grown) -> list[tuple[Any, ...]]:
    """Give each node its id: a content hash of document, place and text, so that what did not change keeps it."""
    nodes = grown.tree.nodes
    places = [0, 0, 0]
    positions: list[int] = []
    for node in nodes:
        positions.append(places[node.level])
        places[node.level] += 1
    ids = [
        digest_of(doc_id, f"{node.level}/{position}", node.text)
        for node, position in zip(nodes, positions, strict=True)
    ]
    title = grown.document.title
    return [
        (
            ids[index], doc_id, ids[node.parent] if node.parent is not None else None, node.level, positions[index],
            node.start, node.end, node.page, node.page_end, node.heading, node.tokens,
            node.text if node.level == 2 else None,
            text_key(embedded_text(title, node.heading, node.text)) if node.level == 2 else None,
        )
        for index, node in enumerate(nodes)
    ]  # fmt: skip
