"""A document bears witness to itself: whatever is changed in its rows is found."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.chunking.hierarchical_chunker import ChunkNode, Tree
from anabranch.readers.document import Block, Document
from anabranch.store.records import Grown, content_digest, facts_of, rows_of
from anabranch.store.schema import prepare
from anabranch.store.stored_document import (
    StoredChunk,
    StoredDocument,
    find_fault,
    is_vector,
    list_numbers,
    sort_chunks,
    stored_chunks,
    stored_document,
)

words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
leaves = st.lists(words, min_size=1, max_size=12)


def stored(title: str, parts: list[str], seed: int) -> tuple[StoredDocument, list[StoredChunk]]:
    """A document with a tree of three levels, cut by chance."""
    dice, text, nodes = random.Random(seed), "".join(parts), []
    bounds, start = [], 0
    for part in parts:
        bounds.append((start, start + len(part)))
        start += len(part)
    roots = _runs(bounds, dice)
    for root in roots:
        root_at = len(nodes)
        nodes.append(_node(0, root, text, None))
        for middle in _runs(root, dice):
            middle_at = len(nodes)
            nodes.append(_node(1, middle, text, root_at))
            nodes += [_node(2, [leaf], text, middle_at) for leaf in middle]
    document = Document(f"{title}.md", title, (Block(text, 1),), {"year": 7}, ("board",))
    grown = Grown(document, Tree(text, tuple(nodes)), content_digest(document), "/x")
    chunks = [StoredChunk(*chunk) for chunk in rows_of(grown)]
    facts: dict[str, Any] = {"number": 1, "born": 1, **facts_of(grown, chunks)}
    return StoredDocument(**facts), chunks


def _runs(parts: list[tuple[int, int]], dice: random.Random) -> list[list[tuple[int, int]]]:
    runs = [[parts[0]]]
    for part in parts[1:]:
        runs[-1].append(part) if dice.random() < 0.5 else runs.append([part])
    return runs


def _node(level: Any, parts: list[tuple[int, int]], text: str, parent: int | None) -> ChunkNode:
    start, end = parts[0][0], parts[-1][1]
    return ChunkNode(level, start, end, 1, 1, "Part", end - start, parent, text[start:end])


@given(words, leaves, st.integers(0, 99))
def test_what_was_written_is_whole(title: str, parts: list[str], seed: int) -> None:
    document, chunks = stored(title, parts, seed)
    assert find_fault(document, chunks) is None
    shuffled = random.Random(seed).sample(chunks, len(chunks))
    assert sort_chunks(iter(shuffled)) == chunks


OTHERS: list[object] = [None, "", "x", "ffffffffffffffff", -1, 0, 1, 2, 3, 10**9, b"\xff", 1.5]


@given(words, leaves, st.integers(0, 99), st.data())
def test_what_was_changed_is_found(title: str, parts: list[str], seed: int, data: st.DataObject) -> None:
    document, chunks = stored(title, parts, seed)
    place = data.draw(st.integers(0, len(chunks) - 1))
    chunk = chunks[place]
    name = data.draw(st.sampled_from(StoredChunk._fields))
    value = data.draw(st.sampled_from(OTHERS))
    changed = chunk._replace(**{name: value})
    if changed == chunk:
        return
    assert find_fault(document, sort_chunks(iter([*chunks[:place], changed, *chunks[place + 1 :]]))) is not None


@given(words, leaves, st.integers(0, 99), st.data())
def test_what_is_missing_or_there_twice_is_found(title: str, parts: list[str], seed: int, data: st.DataObject) -> None:
    document, chunks = stored(title, parts, seed)
    place = data.draw(st.integers(0, len(chunks) - 1))
    assert find_fault(document, [*chunks[:place], *chunks[place + 1 :]]) is not None
    assert find_fault(document, sort_chunks(iter([*chunks, chunks[place]]))) is not None
    assert find_fault(document, []) is not None


@pytest.mark.parametrize("name", [name for name in StoredDocument._fields if name not in ("number", "born")])
@pytest.mark.parametrize("value", [None, 7, b"\xff", "{", "[["])
def test_a_changed_row_is_found(name: str, value: object) -> None:
    document, chunks = stored("Title", ["one ", "two "], 1)
    if name == "tokens" and value == document.tokens:
        return
    assert find_fault(document._replace(**{name: value}), chunks) is not None


def test_deep_metadata_is_no_traceback() -> None:
    document, chunks = stored("Title", ["one "], 1)
    assert find_fault(document._replace(metadata="[" * 100_000), chunks) == "its metadata cannot be read"


@pytest.mark.parametrize(
    ("blob", "expected"),
    [
        (np.array([0.6, -0.8], np.float32).tobytes(), True),
        (np.array([0.6, 0.81], np.float32).tobytes(), True),
        (np.array([0.6, 0.9], np.float32).tobytes(), False),
        (b"\0" * 8, False),
        (np.array([0.6, -0.8], np.float32).tobytes()[:7], False),
        (b"", False),
        ("text", False),
        (None, False),
        (b"\0\0\xc0\x7f" * 2, False),
    ],
)
def test_vectors(blob: object, expected: bool) -> None:
    assert is_vector(blob, 2) is expected
    assert not is_vector(b"", 0)


def test_rows_of_a_database() -> None:
    document, chunks = stored("Title", ["one ", "two ", "three "], 3)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        prepare(connection)
        for number in (3, 1700, 2):
            row = document._replace(number=number, doc_id=f"id{number}", source=f"{number}.md")
            columns = ", ".join(StoredDocument._fields)
            connection.execute(f"INSERT INTO documents ({columns}) VALUES ({', '.join('?' * 13)})", row)
        connection.executemany(
            f"INSERT INTO chunks VALUES ({', '.join('?' * 13)})", [chunk._replace(doc_id="id3") for chunk in chunks]
        )
        assert list(list_numbers(connection)) == [2, 3, 1700]
        assert stored_document(connection, 3) == document._replace(number=3, doc_id="id3", source="3.md")
        assert stored_document(connection, 4) is None
        assert stored_chunks(connection, "id3") == [chunk._replace(doc_id="id3") for chunk in chunks]
