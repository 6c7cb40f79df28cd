"""Documents for a corpus without a tokenizer or a model: leaves are given, vectors are made of their text."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from anabranch.chunking.hierarchical_chunker import ChunkNode, Tree
from anabranch.models.embedder import Vectors
from anabranch.readers.document import Block, Document
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.records import Grown, content_digest, embedded_text
from anabranch.store.writer_protocol import FileRecord

EMBEDDER = "random"
DIMENSION = 8
WORDS = ["heron", "swift", "owl", "river", "weir", "dawn", "gauge", "flood", "stone", "reed"]


def grown(name: str, leaves: Sequence[str]) -> Grown:
    """A document of these leaves."""
    text, nodes = "".join(f"{leaf}\n\n" for leaf in leaves), []
    nodes.append(ChunkNode(0, 0, len(text), None, None, "", len(leaves), None, text))
    nodes.append(ChunkNode(1, 0, len(text), None, None, "", len(leaves), 0, text))
    start = 0
    for leaf in leaves:
        end = start + len(leaf) + 2
        nodes.append(ChunkNode(2, start, end, None, None, "", 1, 1, text[start:end]))
        start = end
    document = Document(name, "", tuple(Block(leaf) for leaf in leaves))
    return Grown(document, Tree(text, tuple(nodes)), content_digest(document), f"/{name}")


def vector(text: str) -> Vectors:
    """A unit vector that is the same in every process."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    numbers = np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    return np.asarray(numbers / np.linalg.norm(numbers), dtype=np.float32)


def vectors(texts: Sequence[str]) -> Vectors:
    return np.stack([vector(text) for text in texts])


def write(
    database: CorpusDatabase, documents: Sequence[Grown], embed: Callable[[Sequence[str]], Vectors] = vectors
) -> None:
    """Commit documents, each of a file of its own, as an ingest does."""
    embedder = database.meta("embedder") or ""
    missing = database.missing_vectors([leaf for document in documents for leaf in document.leaves], embedder)
    if missing:
        database.add_vectors(list(missing), embed(list(missing.values())), embedder)
    database.write(
        documents, [FileRecord(each.path, each.path[1:], each.digest, (), complete=False) for each in documents]
    )


def put(database: CorpusDatabase, name: str, dice: random.Random, leaves: int | None = None) -> None:
    """Commit a document of random words."""
    texts = [" ".join(dice.choices(WORDS, k=dice.randint(1, 6))) for _ in range(leaves or dice.randint(1, 4))]
    write(database, [grown(name, texts)])


def opened(folder: Path) -> CorpusDatabase:
    """A new database whose vectors are those of `vector`, and which does not wait for the disk."""
    database = CorpusDatabase(folder)
    database.connection.execute("PRAGMA synchronous = OFF")
    database.set_meta("embedder", EMBEDDER)
    return database


def alive(database: CorpusDatabase) -> dict[str, str]:
    """The text of every leaf there is, by chunk id."""
    sql = (
        "SELECT c.chunk_id, d.title, c.heading, c.text FROM chunks c JOIN documents d USING (doc_id) "
        "WHERE c.level = 2 ORDER BY d.number, c.start"
    )
    return {chunk_id: embedded_text(*parts) for chunk_id, *parts in database.all(sql)}
