"""Fusion as a step of the search: what it asks the corpus for, what it says of it, and what is left without it."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch.errors import CorpusDamagedError
from anabranch.store.local_reader import LocalReader
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from graph.retrieval import graph
from nodes.settings import Context
from nodes.state import InputState
from tests.graph.conftest import river  # noqa: F401  # fixture

QUESTION = "Who opened the lock at Lower Cray?"


async def found(corpus: str, **settings: Any) -> dict[str, Any]:
    context = Context(corpus=corpus, strategy="none", **settings)
    state: dict[str, Any] = await graph.ainvoke(InputState(question=QUESTION), context=context)
    return state


def ids(state: dict[str, Any]) -> list[str]:
    return [candidate["id"] for candidate in state["candidates"]]


async def test_alpha_weighs_the_two_retrievers(river: str) -> None:  # noqa: F811
    retrievers = {retriever: ids(await found(river, retrievers=(retriever,))) for retriever in ("bm25", "dense")}
    dense, bm25 = await found(river, alpha=1), await found(river, alpha=0)
    assert ids(dense)[: len(retrievers["dense"])] == retrievers["dense"]
    assert ids(bm25)[: len(retrievers["bm25"])] == retrievers["bm25"]


async def test_what_only_one_retriever_found_is_scored_by_the_other(river: str) -> None:  # noqa: F811
    state = await found(river, depth=3)
    corpus = await open_corpus(river)
    expected = dict.fromkeys(ids(state), 0.0)
    for retriever in ("bm25", "dense"):
        (scores,) = await corpus.scores(retriever, [QUESTION], ids(state), Scope())
        low, high = min(scores.values()), max(scores.values())
        for chunk_id, score in scores.items():
            expected[chunk_id] += 0.5 * (score - low) / (high - low)
    assert any(len(candidate["ranks"]) == 1 for candidate in state["candidates"])
    assert {candidate["id"]: candidate["score"] for candidate in state["candidates"]} == pytest.approx(
        expected, abs=1e-5
    )


@pytest.mark.parametrize("retrievers", [("bm25",), ("dense",)])
async def test_one_retriever_needs_no_weight(river: str, retrievers: tuple[str, ...]) -> None:  # noqa: F811
    found_alone = [ids(await found(river, retrievers=retrievers, alpha=alpha)) for alpha in (0, 0.5, 1)]
    assert found_alone[0]
    assert found_alone[0] == found_alone[1] == found_alone[2]


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
