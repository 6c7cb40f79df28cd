"""The graph inside other programs: as a tool, as a subgraph, and in chains."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from anabranch import SettingsError, as_tool, build

QUESTION = "Who built the Halden weir?"


def test_the_tool_takes_a_question_and_returns_the_answer_with_its_sources(river: str) -> None:
    tool = as_tool(corpus=river)
    assert tool.args == {"question": {"title": "Question", "type": "string"}}
    assert (tool.name, "documents" in tool.description) == ("ask_documents", True)
    said = tool.invoke(QUESTION)
    assert "Ida Marrow" in said
    assert "\n\n[1] " in said
    message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": QUESTION}})
    assert isinstance(message, ToolMessage)
    assert message.artifact["citations"][0]["grade"] in ("quoted", "found")


async def test_the_tool_has_a_name_and_settings_of_its_own_and_is_async(river: str) -> None:
    tool = as_tool("ask_river", "About the river.", corpus=river, top_k=1, retrievers=["bm25"])
    assert (tool.name, tool.description) == ("ask_river", "About the river.")
    assert "Ida Marrow" in await tool.ainvoke({"question": QUESTION})
    assert "\n\n[1]" not in await tool.ainvoke({"question": "zyzzyva qwertzu?"})


def test_a_mistyped_setting_is_told_when_the_tool_is_made(river: str) -> None:
    with pytest.raises(SettingsError, match="no setting 'topk'"):
        as_tool(corpus=river, topk=1)
    assert as_tool(corpus=river, filters={"source": "a"}, retrievers=["bm25"]).name == "ask_documents"


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
