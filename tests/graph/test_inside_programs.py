"""The graph inside other programs: as a subgraph, and in chains."""

from __future__ import annotations

import dataclasses
from typing import Any

from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from anabranch import build

QUESTION = "Who built the Halden weir?"


@dataclasses.dataclass
class Theirs:
    """The context of another graph, with a name that is a setting of ours and means something else."""

    user: str = "x"
    corpus: int = 3


class Outer(TypedDict, total=False):
    question: str
    answer: str
    citations: list[Any]


async def test_a_subgraph_of_a_graph_with_another_context(river: str) -> None:
    builder = StateGraph(Outer, context_schema=Theirs)
    builder.add_node("documents", build(settings={"corpus": river}).compile())
    builder.add_edge(START, "documents")
    outer = builder.compile()
    for context in (Theirs(), None):
        assert "Ida Marrow" in (await outer.ainvoke({"question": QUESTION}, context=context))["answer"]
    assert "Ida Marrow" in outer.invoke({"question": QUESTION}, context=Theirs())["answer"]


def test_called_from_a_step_of_a_graph_with_another_context(river: str) -> None:
    inner = build(settings={"corpus": river}).compile()

    def ask(state: Outer) -> dict[str, Any]:
        return {"answer": inner.invoke({"question": state["question"]})["answer"]}

    builder = StateGraph(Outer, context_schema=Theirs).add_node("ask", ask).add_edge(START, "ask")
    assert "Ida Marrow" in builder.compile().invoke({"question": QUESTION}, context=Theirs())["answer"]


def test_behind_a_prompt_and_between_functions(river: str) -> None:
    inner = build(settings={"corpus": river}).compile()
    prompt = ChatPromptTemplate.from_messages([("human", "Who built the {what}?")])
    assert "Ida Marrow" in (prompt | inner).invoke({"what": "Halden weir"})["answer"]
    chain = RunnableLambda(lambda text: {"question": text}) | inner | (lambda result: result["answer"])
    assert "Ida Marrow" in chain.invoke(QUESTION)
