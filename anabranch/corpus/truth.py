"""The write side of a corpus: documents, their chunk trees and vectors in one SQLite file."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.corpus.document import Document
from anabranch.corpus.schema import prepare
from anabranch.corpus.tree import Tree
from anabranch.errors import CorpusDamagedError
from anabranch.models.embedding import Vectors

DATABASE = "corpus.db"


def digest_of(*parts: str) -> str:
    """Return 16 hex characters that name the parts; the separator cannot occur in text that was read."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def content_digest(document: Document) -> str:
    """Name everything of a document that the corpus keeps, so that an unchanged one is left alone."""
    blocks = [[block.text, block.page, block.heading, block.is_heading] for block in document.blocks]
    facts = [document.title, document.key, document.metadata, document.access, blocks]
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode("utf-8", "surrogatepass")).hexdigest()


def embedded_text(title: str, heading: str, text: str) -> str:
    """Return what both arms see of a leaf: title and heading path in front, which say what the words are about."""
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


class Truth:
    """One writer's connection."""

    def __init__(self, folder: Path) -> None:
        """Open the database, creating it where it is missing.

        Raises:
            CorpusDamagedError: The file is no database, or of a later version.
        """
        try:
            self.connection = sqlite3.connect(folder / DATABASE, isolation_level=None, timeout=30)
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA foreign_keys = ON")
            prepare(self.connection)
        except sqlite3.DatabaseError as error:
            msg = f"{folder / DATABASE} cannot be read: {error}"
            raise CorpusDamagedError(msg, hint="Restore it from a copy, or ingest into a new folder.") from error

    def close(self) -> None:
        """Close, moving what is in the log into the database file."""
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all of it or nothing."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    @property
    def changes(self) -> int:
        """How often a document was written or removed; an index made at another count is out of date."""
        return int(self.meta("changes") or 0)

    def _count_change(self) -> None:
        """Count a change inside its own transaction, so that a kill between the two is impossible."""
        self.set_meta("changes", str(self.changes + 1))

    def meta(self, name: str) -> str | None:
        """Return one fact about the corpus."""
        row = self.connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def set_meta(self, name: str, value: str) -> None:
        """Keep one fact about the corpus."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def one(self, sql: str, *parameters: Any) -> Any:  # noqa: ANN401  # a row of any shape
        """Return the first row, or None."""
        return self.connection.execute(sql, parameters).fetchone()

    def missing_vectors(self, texts: Sequence[str], embedder: str) -> dict[str, str]:
        """Return the texts that have no vector yet, by their key."""
        by_key = {digest_of(text): text for text in texts}
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

    def write(self, grown: Grown) -> bool:
        """Replace one document and its whole tree in one transaction; return whether it was there before."""
        document = grown.document
        doc_id = digest_of(document.source)
        with self.transaction():
            self._count_change()
            before = self.connection.execute("DELETE FROM documents WHERE doc_id = ?", (doc_id,)).rowcount
            self.connection.execute(
                "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    doc_id,
                    grown.path,
                    document.source,
                    document.key or document.source,
                    document.title,
                    grown.digest,
                    json.dumps(document.metadata, ensure_ascii=False, sort_keys=True, default=str),
                    json.dumps(sorted(document.access)),
                    sum(node.tokens for node in grown.tree.nodes if node.level == 0),
                    json.dumps(_pages(grown)),
                ),
            )
            self.connection.executemany(
                "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _rows(doc_id, grown)
            )
        return before > 0

    def remove(self, where: str, *parameters: Any) -> int:  # noqa: ANN401
        """Remove documents (with their trees) by an SQL condition of this program's own."""
        with self.transaction():
            self._count_change()
            return self.connection.execute(f"DELETE FROM documents WHERE {where}", parameters).rowcount  # noqa: S608


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
            digest_of(embedded_text(title, node.heading, node.text)) if node.level == 2 else None,
        )
        for index, node in enumerate(nodes)
    ]  # fmt: skip
