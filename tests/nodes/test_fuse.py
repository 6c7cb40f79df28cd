"""Fusion as a step of the search: what it asks the corpus for, what it says of it, and what is left without it."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch.agent.graph.retrieval import graph
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import InputState
from anabranch.errors import CorpusDamagedError
from anabranch.store.local_reader import LocalReader
from tests.graph.conftest import river  # noqa: F401  # fixture

QUESTION = "Who opened the lock at Lower Cray?"


async def found(corpus: str, **settings: Any) -> dict[str, Any]:
    context = Context(corpus=corpus, strategy="none", **settings)
    state: dict[str, Any] = await graph.ainvoke(InputState(question=QUESTION), context=context)
    return state


def counts(state: dict[str, Any]) -> dict[str, Any]:
    return next(step["counts"] for step in state["trace"] if step["node"] == "fuse")


def ids(state: dict[str, Any]) -> list[str]:
    return [candidate["id"] for candidate in state["candidates"]]


async def test_the_weight_and_its_reasons_are_in_the_trace(river: str) -> None:  # noqa: F811
    state = await found(river)
    said = counts(state)
    assert 0 < said["alpha"] < 1
    assert said["words"] > 0
    assert said["nearness"] > 0
    assert 0 < said["trust"] <= 1
    assert state["degraded"] == []


async def test_a_given_weight_is_kept(river: str) -> None:  # noqa: F811
    retrievers = {retriever: ids(await found(river, retrievers=(retriever,))) for retriever in ("bm25", "dense")}
    dense, bm25 = await found(river, alpha=1), await found(river, alpha=0)
    assert ids(dense)[: len(retrievers["dense"])] == retrievers["dense"]
    assert ids(bm25)[: len(retrievers["bm25"])] == retrievers["bm25"]
    assert "alpha" not in counts(dense)


async def test_it_is_one_half_where_the_lists_stay_as_they_are(river: str) -> None:  # noqa: F811
    for fusion in ("convex", "rrf", "z_score", "dbsf"):
        chosen, given = await found(river, fusion=fusion), await found(river, fusion=fusion, alpha=0.5)
        assert chosen["candidates"] == given["candidates"]


async def test_what_only_one_retriever_found_is_scored_by_the_other(river: str) -> None:  # noqa: F811
    deep, shallow = await found(river, depth=1000), await found(river, depth=3, top_k=3)
    known = {candidate["id"]: candidate["score"] for candidate in deep["candidates"]}
    order = [chunk_id for chunk_id in ids(deep) if chunk_id in set(ids(shallow))]
    # Cut off at three passages each, the lists put them in the order that they have uncut.
    assert ids(shallow) == order
    assert known[order[0]] == max(known.values())


@pytest.mark.parametrize("retrievers", [("bm25",), ("dense",)])
async def test_one_retriever_needs_no_weight(river: str, retrievers: tuple[str, ...]) -> None:  # noqa: F811
    state = await found(river, retrievers=retrievers)
    assert state["candidates"]
    assert "alpha" not in counts(state)


async def test_the_lists_are_fused_as_they_are_where_the_corpus_gives_no_scores(
    river: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fails(*_: object) -> None:
        raise CorpusDamagedError("A file of the index is gone.")

    plain = await found(river, fusion="convex")
    monkeypatch.setattr(LocalReader, "scores", fails)
    state = await found(river)
    assert ids(state) == ids(plain)
    assert state["degraded"] == [{"step": "fuse", "reason": "A file of the index is gone."}]
