"""Fusion as a step of the search: what it asks the corpus for, what it says of it, and what is left without it."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch.agent.graph.retrieval import graph
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import InputState
from anabranch.errors import CorpusDamagedError
from anabranch.retrieval.fusion.score_normalization import min_max
from anabranch.store.local_reader import LocalReader
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from anabranch_conformance.corpus_contents import ARMS
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
    assert 0 < said["trust"] <= 1
    assert said["alpha"] == pytest.approx(said["trust"] ** 0.5 / 2, abs=0.01)
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
    state = await found(river, depth=3, alpha=0.5)
    lists = {arm: (await (await open_corpus(river)).search(arm, [QUESTION], 1000, Scope()))[0] for arm in ARMS}
    scores = {arm: dict(zip(each["ids"], each["scores"], strict=True)) for arm, each in lists.items()}
    first = [set(each["ids"][:3]) for each in lists.values()]
    assert set(ids(state)) == set.union(*first) > set.intersection(*first)
    # A passage without a word of the question has a score of 0.
    bm25, dense = (min_max([scores[arm].get(each, 0.0) for each in ids(state)]) for arm in ("bm25", "dense"))
    expected = [(one + other) / 2 for one, other in zip(bm25, dense, strict=True)]
    assert [candidate["score"] for candidate in state["candidates"]] == pytest.approx(expected, abs=1e-4)


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
