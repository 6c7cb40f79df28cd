"""A document as a line of an exported corpus, and back: the same chunks with the same ids."""

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
from anabranch.store.export.json_lines import Record
from anabranch.store.records import Grown, facts_of, rows_of
from anabranch.store.stored_document import StoredChunk, StoredDocument, fault
from anabranch.text.normalization import clean_counted

_LEVELS: tuple[Level, Level, Level] = (0, 1, 2)
_TEXTS = ("source", "title", "key", "path", "digest", "text")


def document_record(document: StoredDocument, chunks: Sequence[StoredChunk], vectors: bytes | None) -> Record:
    """Return the line of a whole document.

    Args:
        document: Its row.
        chunks: Its chunks in reading order.
        vectors: Those of its leaves, one after the other, if they are to be in it.
    """
    record: Record = {
        "kind": "document",
        "source": document.source,
        "title": document.title,
        "key": document.key,
        "access": json.loads(document.access),
        "metadata": json.loads(document.metadata),
        "path": document.path,
        "digest": document.digest,
        "pages": json.loads(document.pages),
        "text": "".join(chunk.text or "" for chunk in chunks),
        "chunks": [
            [chunk.level, chunk.start, chunk.end, chunk.tokens, chunk.page, chunk.page_end, chunk.heading]
            for chunk in chunks
        ],
    }
    if vectors is not None:
        record["vectors"] = base64.b64encode(vectors).decode("ascii")
    return record


def grown_of(record: Record) -> Grown:
    """Return the document of a line, as ingest would hand it on.

    Raises:
        ValueError: The line lacks something, or its parts do not belong together.
    """
    for name in _TEXTS:
        if not isinstance(record.get(name), str):
            raise ValueError(f"{name!r} has to be text")  # noqa: TRY004  # a bad line, not a bad call
    if not record["source"].strip():
        raise ValueError("the source is empty")
    # Before the chunks: what hides in a text is said as such, and not as a chunk whose hash is wrong.
    _must_be_visible(record)
    text = record["text"]
    document = Document(
        source=record["source"],
        title=record["title"],
        blocks=tuple(_pages(record, text)),
        metadata=_metadata(record),
        access=_access(record),
        key=record["key"],
    )
    grown = Grown(document, Tree(text, tuple(_nodes(record, text))), record["digest"], record["path"])
    _must_be_whole(grown, record)
    return grown


def vectors_of(record: Record, grown: Grown, dimension: int) -> Vectors | None:
    """Return the vectors of a document's leaves, shape (leaves, dimension); None where the line has none.

    Raises:
        ValueError: They are not as many or not as long as they have to be, or are no unit vectors.
    """
    if "vectors" not in record:
        return None
    content = base64.b64decode(str(record["vectors"]), validate=True)
    leaves = len(grown.leaves)
    if dimension < 1 or len(content) != 4 * leaves * dimension:
        raise ValueError(f"it has {len(content)} bytes of vectors, not {leaves} vectors of {dimension} numbers")
    vectors = np.frombuffer(content, dtype="<f4").reshape(leaves, dimension).astype(np.float32)
    with np.errstate(all="ignore"):
        # A search takes the inner product for the cosine: a vector of the length 100 would be the nearest to every
        # question.
        lengths = np.linalg.norm(vectors, axis=1)
    if not np.all(np.abs(lengths - 1.0) < 1e-2):
        raise ValueError("its vectors have not the length 1")
    return vectors


def _must_be_visible(record: Record) -> None:
    """Refuse what no reader of files would let through: nobody sees it, and a model would obey it."""
    headings = {row[-1] for row in _list(record, "chunks") if isinstance(row, list) and row and type(row[-1]) is str}
    for text in (record["text"], record["title"], *headings):
        if clean_counted(text)[1]:
            raise ValueError("its text holds invisible characters")


def _pages(record: Record, text: str) -> Iterator[Block]:
    """Yield the text page by page: where pages begin is all that has to be known of blocks."""
    starts: list[tuple[int, int | None]] = []
    for pair in _list(record, "pages"):
        if not isinstance(pair, list) or [type(number) for number in pair] != [int, int]:
            raise ValueError(f"{pair!r} is not a character and a page")
        starts.append((pair[0], pair[1]))
    bounds = [(0, None), *starts, (len(text), None)]
    for (start, page), (end, _) in pairwise(bounds):
        if not 0 <= start <= end:
            raise ValueError("its pages are out of order")
        if start < end:
            yield Block(text[start:end], page)


def _nodes(record: Record, text: str) -> Iterator[ChunkNode]:
    above: list[int | None] = [None, None, None]
    ends = [0, 0, 0]
    for index, row in enumerate(_list(record, "chunks")):
        if not isinstance(row, list) or len(row) != 7:
            raise ValueError("a chunk has to be a list of seven")
        level, start, end, tokens, page, page_end, heading = row
        if not _are_numbers(level, start, end, tokens) or level not in _LEVELS or not isinstance(heading, str):
            raise ValueError(f"the chunk {row!r} cannot be used")
        if not all(number is None or _are_numbers(number) for number in (page, page_end)):
            raise ValueError(f"the chunk {row!r} cannot be used")
        if start != ends[level] or not start < end <= len(text):
            raise ValueError(f"a chunk is missing at character {ends[level]}")
        ends[level] = end
        parent = above[level - 1] if level else None
        yield ChunkNode(_LEVELS[level], start, end, page, page_end, heading, tokens, parent, text[start:end])
        above[level] = index
    if ends != [len(text)] * 3:
        raise ValueError(f"a chunk is missing at character {min(ends)}")


def _are_numbers(*values: object) -> bool:
    return all(type(value) is int and value >= 0 for value in values)


def _must_be_whole(grown: Grown, record: Record) -> None:
    # The same look as at a stored document: what passes here is what `verify` will find sound.
    facts: dict[str, Any] = {"number": 0, "born": 0, **facts_of(grown)}
    document = StoredDocument(**facts)
    chunks = [StoredChunk(*row) for row in rows_of(document.doc_id, grown)]
    if (why := fault(document, chunks)) is not None:
        raise ValueError(why)
    if json.loads(document.pages) != record["pages"]:
        raise ValueError("its pages are out of order")


def _metadata(record: Record) -> dict[str, Any]:
    metadata = record.get("metadata")
    if not isinstance(metadata, dict):
        raise ValueError("'metadata' has to be an object")  # noqa: TRY004  # a bad line, not a bad call
    return metadata


def _access(record: Record) -> tuple[str, ...]:
    # Without the list nobody can say who may read it, and everybody would be too many.
    tags = record.get("access")
    if not isinstance(tags, list) or not all(isinstance(tag, str) and tag.strip() for tag in tags):
        raise ValueError(f"'access' has to be a list of tags, not {tags!r}")
    return tuple(tags)


def _list(record: Record, name: str) -> list[Any]:
    value = record.get(name)
    if not isinstance(value, list):
        raise ValueError(f"{name!r} has to be a list")  # noqa: TRY004  # a bad line, not a bad call
    return value
