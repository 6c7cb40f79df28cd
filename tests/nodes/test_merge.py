"""The step `merge` on a real corpus: what goes in, what the caller may see, what is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.nodes.merge import merge
from anabranch.ingestion.pipeline import ingest
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from anabranch.types import Chunk
from plugins.evaluation.tests.made import write_lines
from tests.nodes.turns import record, turn_of

BOARD = Scope(access=("board",))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("merge")
    said = " ".join(f"In year {year} the water stood {year} hands high." for year in range(40))
    lines = [{"id": "open", "text": said, "kind": "log"}, {"id": "closed", "text": said, "access": ["board"]}]
    write_lines(home / "d.jsonl", lines)
    ingest([home / "d.jsonl"], home / "corpus", sizes=(256, 100, 24))
    return home / "corpus"


async def sections(folder: Path, key: str) -> list[list[Chunk]]:
    """The leaves of a document by section, in reading order."""
    corpus = await open_corpus(folder)
    (ranked,) = await corpus.search("bm25", ["water"], 100, BOARD)
    leaves = [leaf for leaf in (await corpus.chunks(ranked["ids"], BOARD)).values() if leaf.doc_key == key]
    by_parent: dict[str | None, list[Chunk]] = {}
    for leaf in sorted(leaves, key=lambda leaf: leaf.start):
        by_parent.setdefault(leaf.parent_id, []).append(leaf)
    return list(by_parent.values())


async def merged(
    folder: Path, leaves: list[Chunk], narrowed: dict[str, Any] | None = None, **settings: Any
) -> dict[str, Any]:
    candidates = [
        {"id": leaf.chunk_id, "score": 1.0 - place / 100, "ranks": {}, "fused": place + 1}
        for place, leaf in enumerate(leaves)
    ]
    state: Any = {"candidates": candidates, "turn": record(filters=narrowed)}
    turn = turn_of("merge", state, corpus=str(folder), **settings)
    update, counts = turn.complete(await merge(state, turn))
    return {**update, "counts": counts}


async def test_a_section_that_was_found_whole_takes_the_place_of_its_leaves(folder: Path) -> None:
    first, second, *_ = await sections(folder, "open")
    update = await merged(folder, [*first, second[0]])
    whole, single = update["passages"]
    assert whole["id"] == first[0].parent_id
    assert whole["leaves"] == sorted(leaf.chunk_id for leaf in first)
    assert (whole["score"], whole["source"]) == (1.0, first[0].source)
    assert single["id"] == second[0].chunk_id


async def test_by_default_more_than_three_quarters_have_to_be_there(folder: Path) -> None:
    section = max(await sections(folder, "open"), key=len)
    assert len(section) >= 4
    half = section[: len(section) // 2 + 1]
    assert [one["id"] for one in (await merged(folder, half))["passages"]] == [leaf.chunk_id for leaf in half]
    (whole,) = (await merged(folder, half, merge_threshold=0.5))["passages"]
    assert whole["id"] == section[0].parent_id


async def test_a_gap_is_filled_from_the_tree(folder: Path) -> None:
    # LlamaIndex: dead code, because leaves of a hierarchy do not know their next one (M0)
    section = max(await sections(folder, "open"), key=len)
    assert len(section) >= 4
    update = await merged(folder, [section[2], section[0]], merge_threshold=0.9)
    assert [one["id"] for one in update["passages"][:1]] == [section[2].chunk_id]
    assert {one["id"] for one in update["passages"]} == {leaf.chunk_id for leaf in section[:3]}


async def test_a_threshold_of_one_leaves_everything_as_it_is(folder: Path) -> None:
    first, *_ = await sections(folder, "open")
    update = await merged(folder, [first[-1], first[0]], merge_threshold=1)
    assert [one["id"] for one in update["passages"]] == [first[-1].chunk_id, first[0].chunk_id]


async def test_no_parent_comes_in_that_is_larger_than_a_window(folder: Path) -> None:
    everything = [leaf for section in await sections(folder, "open") for leaf in section]
    corpus = await open_corpus(folder)
    sizes = {}
    for window in (64, 128, 3000):
        update = await merged(folder, everything, window_tokens=window)
        found = await corpus.chunks([one["id"] for one in update["passages"]], BOARD)
        assert all(chunk.tokens <= window for chunk in found.values())
        sizes[window] = len(found)
    assert sizes[3000] < sizes[64]


async def test_merging_takes_no_window_more_than_the_leaves(folder: Path) -> None:
    whole, part = [section for section in await sections(folder, "open") if len(section) >= 4][:2]
    leaves = [*part[:3], *whole]
    tokens = sum(leaf.tokens for leaf in leaves)
    # A section that is there whole costs nothing; the rest of the other one would have to go into a second window.
    update = await merged(folder, leaves, merge_threshold=0.5, window_tokens=tokens)
    assert {one["id"] for one in update["passages"]} == {whole[0].parent_id, *(leaf.chunk_id for leaf in part[:3])}
    update = await merged(folder, leaves, merge_threshold=0.5, window_tokens=tokens + 100)
    assert not {one["id"] for one in update["passages"]} & {leaf.chunk_id for leaf in leaves}


@pytest.mark.parametrize("narrowed", [None, {"kind": "log"}])
async def test_what_the_caller_may_not_see_does_not_come_in(folder: Path, narrowed: dict[str, Any] | None) -> None:
    # the search was made by a caller with the tag; the thread goes on with one without
    (first, *_), (closed, *_) = await sections(folder, "open"), await sections(folder, "closed")
    update = await merged(folder, [*closed, first[0]], narrowed)
    assert [one["id"] for one in update["passages"]] == [first[0].chunk_id]
    assert update["counts"]["gone"] == len(closed)
    seen = await merged(folder, [*closed, first[0]], access=("board",))
    assert [one["id"] for one in seen["passages"]] == [closed[0].parent_id, first[0].chunk_id]
