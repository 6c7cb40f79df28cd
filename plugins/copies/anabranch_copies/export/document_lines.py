"""Convert documents to lines of an exported corpus and back, with the same chunks and ids."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from anabranch.chunking.hierarchical_chunker import ChunkNode, Tree
from anabranch.models.embedder import Vectors
from anabranch.readers.document import Block, Document, Level
from anabranch.store.records import Grown, facts_of, rows_of
from anabranch.store.stored_document import StoredChunk, StoredDocument, find_fault, is_vector
from anabranch.text.normalization import clean_counted
from anabranch_copies.export.json_lines import DocumentLine

_LEVELS: tuple[Level, Level, Level] = (0, 1, 2)


def document_line(document: StoredDocument, chunks: Sequence[StoredChunk], vectors: bytes | None) -> DocumentLine:
    """Return the line of an intact document."""
    # Not validated, because `fault` has checked each, and a million chunks may be written.
    return DocumentLine.model_construct(
        source=document.source,
        title=document.title,
        key=document.key,
        access=json.loads(document.access),
        metadata=json.loads(document.metadata),
        path=document.path,
        digest=document.digest,
        pages=[(start, page) for start, page in json.loads(document.pages)],
        text="".join(chunk.text or "" for chunk in chunks),
        chunks=[
            (chunk.level, chunk.start, chunk.end, chunk.tokens, chunk.page, chunk.page_end, chunk.heading)
            for chunk in chunks
        ],
        vectors=None if vectors is None else base64.b64encode(vectors).decode("ascii"),
    )


def grown_of(line: DocumentLine) -> Grown:
    """Return the document of a line, as ingest would create it.

    Raises:
        ValueError: Its parts do not belong together.
    """
    # Checked before the chunks, so that hidden text is reported as such and not as a wrong hash.
    _check_visible(line)
    document = Document(line.source, line.title, tuple(_pages(line)), line.metadata, tuple(line.access), line.key)
    grown = Grown(document, Tree(line.text, tuple(_nodes(line))), line.digest, line.path)
    _check_intact(grown, line)
    return grown


def vectors_of(line: DocumentLine, grown: Grown, dimension: int) -> Vectors | None:
    """Return the vectors of a document's leaves, shape (leaves, dimension); None where the line has none.

    Raises:
        ValueError: Their number or length is wrong, or they are not unit vectors.
    """
    if line.vectors is None:
        return None
    content = base64.b64decode(line.vectors, validate=True)
    leaves = len(grown.leaves)
    if dimension < 1 or len(content) != 4 * leaves * dimension:
        raise ValueError(f"it has {len(content)} bytes of vectors, not {leaves} vectors of {dimension} numbers")
    vectors = np.frombuffer(content, dtype="<f4").reshape(leaves, dimension).astype(np.float32)
    # A search uses the inner product as the cosine: a vector of length 100 would be nearest to every question.
    if not all(is_vector(vector.tobytes(), dimension) for vector in vectors):
        raise ValueError("its vectors do not have length 1")
    return vectors


def _check_visible(line: DocumentLine) -> None:
    """Refuse invisible text, which a model would read, as the readers of files do."""
    for text in (line.text, line.title, *{heading for *_, heading in line.chunks}):
        if clean_counted(text)[1]:
            raise ValueError("its text holds invisible characters")


def _pages(line: DocumentLine) -> Iterator[Block]:
    """Yield the text page by page; only the beginnings of pages are needed."""
    bounds = [(0, None), *line.pages, (len(line.text), None)]
    for (start, page), (end, _) in pairwise(bounds):
        if start > end:
            raise ValueError("its pages are out of order")
        if start < end:
            yield Block(line.text[start:end], page)


def _nodes(line: DocumentLine) -> Iterator[ChunkNode]:
    above: list[int | None] = [None, None, None]
    for index, (level, start, end, tokens, page, page_end, heading) in enumerate(line.chunks):
        parent = above[level - 1] if level else None
        text = line.text[start:end]
        yield ChunkNode(_LEVELS[level], start, end, page, page_end, heading, tokens, parent, text)
        above[level] = index


def _check_intact(grown: Grown, line: DocumentLine) -> None:
    # The same check as `verify` makes of a stored document.
    chunks = [StoredChunk(*row) for row in rows_of(grown)]
    facts: dict[str, Any] = {"number": 0, "born": 0, **facts_of(grown, chunks)}
    document = StoredDocument(**facts)
    if (why := find_fault(document, chunks)) is not None:
        raise ValueError(why)
    if (reached := chunks[-1].end if chunks else 0) != len(line.text):
        raise ValueError(f"a passage is missing at character {reached}")
    if json.loads(document.pages) != [list(page) for page in line.pages]:
        raise ValueError("its pages are out of order")
