"""The search graph finds what the answer graph works with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import StateGraph

from anabranch.agent.graph.retrieval import build as build_retrieval
from anabranch.agent.graph.retrieval import graph
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import InputState
from tests.cli.conftest import corpus, documents  # noqa: F401  # fixtures
from tests.graph.inside import graph as answer

GIVEN = InputState(question="What is an anabranch of a river?")


@pytest.mark.parametrize(
    "settings", [{}, {"fusion": "rrf", "strategy": "none", "top_k": 3}, {"retrievers": ("dense",)}]
)
async def test_the_same_candidates_as_in_the_answer_graph(corpus: Path, settings: dict[str, object]) -> None:  # noqa: F811
    context = Context(corpus=str(corpus), **settings)  # type: ignore[arg-type]
    found = await graph.ainvoke(GIVEN, context=context)
    answered = await answer.ainvoke(GIVEN, context=context)
    assert found["candidates"] == answered["candidates"]
    assert found["queries"] == answered["queries"]
    assert found["candidates"]


def _drawn(builder: StateGraph[Any, Any, Any, Any]) -> set[tuple[str, str]]:
    """Return the edges, conditional ones as well: the answer graph has more ways to go from some steps."""
    return {(edge.source, edge.target) for edge in builder.compile().get_graph().edges}


def test_nodes_and_edges_are_those_of_the_retrieval_in_the_answer_graph() -> None:
    mine, whole = _drawn(build_retrieval(graded=False)), _drawn(build_retrieval())
    assert {edge for edge in mine if edge[1] != "__end__"} <= whole | {("rewrite", "retrieve")}
    assert {name for edge in mine for name in edge} < {name for edge in whole for name in edge}


def test_nobody_is_asked_to_review(corpus: Path) -> None:  # noqa: F811
    found = graph.invoke(GIVEN, context=Context(corpus=str(corpus), review="queries"))
    assert found["candidates"]
