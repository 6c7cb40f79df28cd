from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from anabranch.ingestion.pipeline import ingest
from anabranch.readers.document import Chunk
from anabranch.store.chunk_ancestors import ancestry_of
from anabranch.store.local_reader import LocalReader
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from plugins.evaluation.tests.made import write_lines

BOARD = Scope(access=("board",))


class Counting:
    """Counts what is read."""

    def __init__(self, corpus: LocalReader) -> None:
        self._corpus = corpus
        self.reads: Counter[str] = Counter()

    async def chunks(self, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        self.reads["chunks"] += 1
        return await self._corpus.chunks(ids, scope)

    async def children(self, ids: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        self.reads["children"] += 1
        return await self._corpus.children(ids, scope)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("ancestry")
    said = " ".join(f"In year {year} the water stood {year} hands high." for year in range(40))
    write_lines(home / "d.jsonl", [{"id": "open", "text": said}, {"id": "closed", "text": said, "access": ["board"]}])
    ingest([home / "d.jsonl"], home / "corpus", sizes=(256, 64, 24))
    return home / "corpus"


async def leaves_of(folder: Path, scope: Scope) -> tuple[LocalReader, dict[str, Chunk]]:
    corpus = await open_corpus(folder)
    (ranked,) = await corpus.search("bm25", ["How high did the water stand?"], 100, scope)
    return corpus, await corpus.chunks(ranked["ids"], scope)


async def test_every_level_is_fetched_at_once(folder: Path) -> None:
    # LlamaIndex fetches one parent at a time (M6)
    corpus, leaves = await leaves_of(folder, BOARD)
    counting: Any = Counting(corpus)
    around = await ancestry_of(counting, BOARD, leaves)
    assert len(leaves) > 30
    assert counting.reads == {"chunks": 2, "children": 2}
    roots = [one for one, parent in around.parents.items() if parent is None]
    assert len(roots) >= 4
    assert {around.parents[one] for one in around.parents} - {None} == set(around.children)


async def test_children_are_in_reading_order_and_whole(folder: Path) -> None:
    corpus, leaves = await leaves_of(folder, BOARD)
    around = await ancestry_of(corpus, BOARD, leaves)
    for parent, below in around.children.items():
        texts = await corpus.chunks(below, BOARD)
        assert "".join(texts[one].text for one in below) == around.chunks[parent].text


async def test_siblings_have_the_tokens_that_their_parent_leaves_them(folder: Path) -> None:
    corpus, leaves = await leaves_of(folder, BOARD)
    everything = await ancestry_of(corpus, BOARD, leaves)
    one = next(iter(leaves.values()))
    sizes = (await ancestry_of(corpus, BOARD, {one.chunk_id: one})).sizes
    below = everything.children[str(one.parent_id)]
    assert sizes[one.chunk_id] == one.tokens
    assert sizes[str(one.parent_id)] == everything.chunks[str(one.parent_id)].tokens
    assert 0 <= sizes[str(one.parent_id)] - sum(sizes[child] for child in below) < len(below)


async def test_what_is_out_of_scope_is_left_out(folder: Path) -> None:
    # as when the caller's access changed since the search
    corpus, leaves = await leaves_of(folder, BOARD)
    closed = {one: leaf for one, leaf in leaves.items() if leaf.doc_key == "closed"}
    around = await ancestry_of(corpus, Scope(), closed)
    assert around.chunks == closed
    assert around.children == {}


async def test_nothing_has_no_ancestors(folder: Path) -> None:
    around = await ancestry_of(await open_corpus(folder), Scope(), {})
    assert (around.chunks, around.children, around.parents) == ({}, {}, {})
