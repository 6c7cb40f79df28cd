"""A document as it is stored, and whether it is intact.

A disk can change bytes silently, and SQLite has no checksums. But a document can be checked against itself: its id is a
hash of its name, the ids of its chunks are hashes of their text, its leaves follow on one another without a gap, and a
checksum covers the rest.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from anabranch.store.records import digest_of, document_checksum, embedded_text, row_checksum, text_key


class StoredDocument(NamedTuple):
    """A row of `documents`; `metadata`, `access` and `pages` are JSON. A damaged row may hold anything."""

    number: int
    born: int
    doc_id: str
    path: str
    source: str
    key: str
    title: str
    digest: str
    metadata: str
    access: str
    tokens: int
    pages: str
    checksum: str


class StoredChunk(NamedTuple):
    """A row of `chunks`; leaves alone have `text` and `vector_key`. A damaged row may hold anything."""

    chunk_id: str
    doc_id: str
    parent_id: str | None
    level: Annotated[int, Field(ge=0, le=2)]
    position: int
    start: int
    end: int
    page: int | None
    page_end: int | None
    heading: str
    tokens: int
    text: str | None
    vector_key: str | None


OFF_UNIT = 1e-2
"""How far the length of a vector may differ from 1; rounding in 16 and 32 bits stays far below."""

DOCUMENT = ", ".join(StoredDocument._fields)
CHUNK = ", ".join(f'"{name}"' for name in StoredChunk._fields)
# SQLite accepts any type in any column: a flipped bit can turn text into bytes or a number, and code that expects text
# would fail far from here.
_TEXTS = ("doc_id", "path", "source", "key", "title", "digest", "metadata", "access", "pages")
_CHUNKS = TypeAdapter(list[StoredChunk], config=ConfigDict(strict=True))
_METADATA, _TAGS, _PAGES = TypeAdapter(dict[str, Any]), TypeAdapter(list[str]), TypeAdapter(list[tuple[int, int]])


def list_numbers(connection: sqlite3.Connection) -> Iterator[int]:
    """Yield the numbers of the documents, ascending.

    Raises:
        sqlite3.DatabaseError: The table is damaged; what was yielded can be read.
    """
    last = 0
    for (number,) in connection.execute("SELECT number FROM documents ORDER BY number"):
        # A damaged tree may name a page twice, which would repeat its documents.
        if number <= last:
            raise sqlite3.DatabaseError("documents are out of order")
        yield number
        last = number


def stored_document(connection: sqlite3.Connection, number: int) -> StoredDocument | None:
    """Return one document's row."""
    sql = f"SELECT {DOCUMENT} FROM documents WHERE number = ?"  # noqa: S608  # names of columns
    row = connection.execute(sql, (number,)).fetchone()
    return StoredDocument(*row) if row else None


def stored_chunks(connection: sqlite3.Connection, doc_id: str) -> list[StoredChunk]:
    """Return the chunks of a document in reading order, parents before their children."""
    sql = f"SELECT {CHUNK} FROM chunks WHERE doc_id = ?"  # noqa: S608  # names of columns
    return sort_chunks(StoredChunk(*row) for row in connection.execute(sql, (doc_id,)))


def sort_chunks(chunks: Iterator[StoredChunk]) -> list[StoredChunk]:
    """Sort chunks into reading order, parents before their children; those without a place come last."""
    placed: list[StoredChunk] = []
    lost: list[StoredChunk] = []
    for chunk in chunks:
        (placed if isinstance(chunk.start, int) and isinstance(chunk.level, int) else lost).append(chunk)
    return sorted(placed, key=lambda chunk: (chunk.start, chunk.level)) + lost


def vectors_of(connection: sqlite3.Connection, doc_id: str) -> Iterator[tuple[str, bytes | None]]:
    """Yield the id of each leaf of a document in order, and its vector if it has one that is what was written."""
    sql = (
        "SELECT c.chunk_id, v.* FROM chunks c LEFT JOIN vectors v ON v.vector_key = c.vector_key AND v.embedder = "
        "(SELECT value FROM meta WHERE name = 'embedder') WHERE c.doc_id = ? AND c.level = 2 ORDER BY c.start"
    )
    for chunk_id, *row in connection.execute(sql, (doc_id,)):
        yield chunk_id, row[2] if is_intact(row) else None


def is_intact(row: Sequence[object]) -> bool:
    """Tell whether a row whose last column is its checksum is what was written."""
    return row[-1] == row_checksum(*row[:-1])


def find_dimension(connection: sqlite3.Connection, embedder: str) -> int:
    """Return the length that most vectors of an embedder have; any other length is wrong."""
    sql = "SELECT length(vector) FROM vectors WHERE embedder = ? GROUP BY length(vector) ORDER BY count(*) DESC LIMIT 1"
    row = connection.execute(sql, (embedder,)).fetchone()
    return int(row[0]) // 4 if row else 0


def is_vector(blob: object, dimension: int) -> bool:
    """Tell whether a blob is a vector of that dimension and of the length 1, as embedders make them."""
    if not isinstance(blob, bytes) or len(blob) != 4 * dimension or not dimension:
        return False
    # A changed exponent of a number nearly always changes the length.
    with np.errstate(all="ignore"):
        return abs(float(np.linalg.norm(np.frombuffer(blob, dtype=np.float32))) - 1.0) < OFF_UNIT


class ExaminedDocument(NamedTuple):
    """A document, as far as it can be read, and its fault; None if it is exactly what was written."""

    number: int
    row: StoredDocument | None
    chunks: list[StoredChunk]
    fault: str | None

    @property
    def name(self) -> str:
        """The source of the document, empty if it cannot be read."""
        return self.row.source if self.row and isinstance(self.row.source, str) else ""


def examine_documents(connection: sqlite3.Connection) -> Iterator[ExaminedDocument]:
    """Yield each document with what is wrong with it; one is in memory at a time.

    Raises:
        sqlite3.DatabaseError: The table is damaged; what was yielded can be read.
    """
    for number in list_numbers(connection):
        yield _examine(connection, number)


def examine_document(connection: sqlite3.Connection, doc_id: str) -> ExaminedDocument | None:
    """Return one document with what is wrong with it, None where there is none of that id."""
    found = connection.execute("SELECT number FROM documents WHERE doc_id = ?", (doc_id,)).fetchone()
    return _examine(connection, found[0]) if found else None


def _examine(connection: sqlite3.Connection, number: int) -> ExaminedDocument:
    row: StoredDocument | None = None
    chunks: list[StoredChunk] = []
    try:
        row = stored_document(connection, number)
        chunks = stored_chunks(connection, row.doc_id) if row else []
        why = find_fault(row, chunks) if row else "it cannot be found by its number"
    # A damaged page costs this document, and not those after it.
    except sqlite3.DatabaseError as error:
        why = str(error)
    return ExaminedDocument(number, row, chunks, why)


def find_fault(document: StoredDocument, chunks: Sequence[StoredChunk]) -> str | None:
    """Return what is wrong with a document, None where it is exactly what was written."""
    return (
        _fault_of_row(document)
        or _fault_of_types(chunks)
        or _fault_of_tree(chunks)
        or _fault_of_words(document, chunks)
        or _fault_of_checksum(document, chunks)
    )


def _fault_of_row(document: StoredDocument) -> str | None:
    if not all(isinstance(getattr(document, name), str) for name in _TEXTS) or not isinstance(document.tokens, int):
        return "its row cannot be read"
    # Only the name needs this check: everything else is in the hash of a chunk.
    if document.doc_id != digest_of(document.source):
        return "its id does not match its name"
    try:
        # Strict, or a number damaged into text would pass.
        _METADATA.validate_json(document.metadata, strict=True)
        _TAGS.validate_json(document.access, strict=True)
        _PAGES.validate_json(document.pages, strict=True)
    except ValueError:
        return "its metadata cannot be read"
    return None


def _fault_of_types(chunks: Sequence[StoredChunk]) -> str | None:
    try:
        _CHUNKS.validate_python(chunks)
    except ValidationError:
        return "a row of its chunks cannot be read"
    if any((chunk.text is None) != (chunk.level < 2) for chunk in chunks):
        return "a leaf has no text, or a parent has some"
    return None


def _fault_of_tree(chunks: Sequence[StoredChunk]) -> str | None:
    """Check that each level covers the whole text without a gap, and that each chunk lies within its parent."""
    ends, counts = [0, 0, 0], [0, 0, 0]
    above: list[StoredChunk | None] = [None, None, None]
    for chunk in chunks:
        # Leaves tile the text, and so do parents: a missing chunk leaves a gap or a missing number.
        if chunk.start != ends[chunk.level] or chunk.position != counts[chunk.level]:
            return f"a passage is missing at character {ends[chunk.level]}"
        parent = above[chunk.level - 1] if chunk.level else None
        if chunk.parent_id != (parent.chunk_id if parent else None):
            return "a chunk has lost its parent"
        if chunk.end <= chunk.start or (parent is not None and chunk.end > parent.end):
            return "a chunk does not lie within its parent"
        ends[chunk.level] = chunk.end
        counts[chunk.level] += 1
        above[chunk.level] = chunk
    return None if len(set(ends)) == 1 else f"a passage is missing at character {min(ends)}"


def _fault_of_words(document: StoredDocument, chunks: Sequence[StoredChunk]) -> str | None:
    text = "".join(chunk.text or "" for chunk in chunks)
    if len(text) != (chunks[-1].end if chunks else 0):
        return "a passage has lost part of its text"
    for chunk in chunks:
        words = text[chunk.start : chunk.end]
        if chunk.chunk_id != digest_of(document.doc_id, f"{chunk.level}/{chunk.position}", words):
            return "a passage is not what was written"
        # The key of its vector is a hash of title, heading and text, so it reveals damage to those, too.
        if chunk.level == 2 and chunk.vector_key != text_key(embedded_text(document.title, chunk.heading, words)):
            return "a passage or its headings are not what was written"
    # A missing last root leaves no gap; the sum shows that it is missing.
    if document.tokens != sum(chunk.tokens for chunk in chunks if chunk.level == 0):
        return "a passage is missing"
    return None


def _fault_of_checksum(document: StoredDocument, chunks: Sequence[StoredChunk]) -> str | None:
    is_same = document.checksum == document_checksum(document._asdict(), chunks)
    return None if is_same else "its access tags, metadata, pages or headings are not what was written"
