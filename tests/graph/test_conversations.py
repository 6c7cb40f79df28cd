"""Several turns on one thread: what a follow-up takes along, what a change of subject leaves, and what never mixes."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.retrievers import BaseRetriever
from langgraph.checkpoint.memory import InMemorySaver

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE
from anabranch.errors import UserError
from tests.graph.inside import build, graph
from tests.graph.replies import model, step_of
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

pytestmark = pytest.mark.loopback

FIRST = "Who built the Halden weir?"
SUBJECT = "What is the diameter of the water wheel at the Brannock mill?"


class Bridges(BaseRetriever):
    """Knows one page, and finds it only where a bridge is asked for."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        page = "The toll bridge at Halden was opened in 1832 by Queen Adelaide."
        return [Document(page_content=page, metadata={"source": "bridge.txt"})] if "bridge" in query else []


def _config(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def _condense(state: dict[str, Any]) -> dict[str, Any]:
    return next(step["counts"] for step in state["trace"] if step["node"] == "condense")


@pytest.mark.parametrize("fault", [{"retrievers": ("unknown",)}, {"corpus": "/nowhere/at/all"}])
async def test_a_turn_that_failed_leaves_neither_its_question_nor_its_filters(
    fault: dict[str, Any], river: str
) -> None:
    compiled, context = build().compile(checkpointer=InMemorySaver()), Context(corpus=river)
    failed = {"question": FIRST, "filters": {"source": "no such document"}}
    with pytest.raises(UserError):
        await compiled.ainvoke(failed, _config("failed"), context=context.model_copy(update=fault))
    told = {"messages": [HumanMessage(SUBJECT)]}
    state = await compiled.ainvoke(told, _config("failed"), context=context, output_keys=VISIBLE)
    assert (state["turn"]["question"], state["turn"]["filters"]) == (SUBJECT, None)
    assert [message.text for message in state["messages"][:-1]] == [SUBJECT]


async def test_a_turn_that_was_left_goes_on_with_its_own_question_and_filters(river: str) -> None:
    compiled, context = build().compile(checkpointer=InMemorySaver()), Context(corpus=river)
    given = {"question": FIRST, "filters": {"source": {"glob": "*"}}}
    await compiled.ainvoke(given, _config("left"), context=context, interrupt_before=["begin"])
    state = await compiled.ainvoke(None, _config("left"), context=context, output_keys=VISIBLE)
    assert (state["turn"]["question"], state["turn"]["filters"]) == (FIRST, given["filters"])


@pytest.mark.parametrize("with_model", [False, True])
async def test_nothing_of_one_turn_is_in_the_next(with_model: bool, river: str) -> None:
    compiled = build(retrievers={"bridges": Bridges()}).compile(checkpointer=InMemorySaver())
    with OpenAIStub(model(condense=Reply(SUBJECT))) as stub:
        server = {"model": "openai:stub", "base_url": stub.base_url} if with_model else {}
        context = Context(corpus=river, retrievers=("bm25", "dense", "bridges"), strategy="none", **server)
        asked = "Who opened the toll bridge at Halden?"
        first = await compiled.ainvoke({"question": asked}, _config("mix"), context=context)
        second = await compiled.ainvoke({"question": SUBJECT}, _config("mix"), context=context)
        # The same conversation, told to a graph that has never run the first turn.
        told = {"messages": [*first["messages"], HumanMessage(SUBJECT)]}
        alone = await build(retrievers={"bridges": Bridges()}).compile().ainvoke(told, context=context)
    assert first["external_passages"]
    assert any(passage["source"] == "bridge.txt" for passage in first["passages"])
    timed = ("trace", "usage", "messages", "message_id")
    assert {name: value for name, value in second.items() if name not in timed} == {
        name: value for name, value in alone.items() if name not in timed
    }
    assert [step["node"] for step in second["trace"]] == [step["node"] for step in alone["trace"]]
    assert second["usage"]["calls"] == alone["usage"]["calls"]
    assert "Adelaide" not in second["answer"]
    if with_model:
        left = json.dumps({name: value for name, value in second.items() if name != "messages"})
        assert "bridge.txt" not in left
        assert "Adelaide" not in left


async def test_a_follow_up_is_searched_as_condensed_and_as_asked(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    with OpenAIStub(model(condense=Reply("When was the Halden weir rebuilt?"))) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, strategy="none")
        await compiled.ainvoke({"question": FIRST}, _config("follow"), context=context)
        state = await compiled.ainvoke({"question": "When was it rebuilt?"}, _config("follow"), context=context)
    assert [(query["kind"], query["text"]) for query in state["queries"]] == [
        ("condensed", "When was the Halden weir rebuilt?"),
        ("asked", "When was it rebuilt?"),
    ]
    searched = [step["counts"]["lists"] for step in state["trace"] if step["node"] == "retrieve"]
    assert [len(lists) for lists in searched] == [2, 2]
    assert state["turn"]["standalone_question"] == "When was the Halden weir rebuilt?"


@pytest.mark.parametrize("asked", [SUBJECT, "Which alarm level does the gauge at Brannock have?"])
async def test_a_change_of_subject_that_a_model_repeats_changes_no_search(asked: str, river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    with OpenAIStub(model(condense=Reply(asked))) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, strategy="none")
        await compiled.ainvoke({"question": FIRST}, _config("change"), context=context)
        state = await compiled.ainvoke({"question": asked}, _config("change"), context=context)
        assert Counter(step_of(call.request) for call in stub.calls)["condense"] == 1
        fresh = await graph.ainvoke({"question": asked}, context=context)
    assert state["turn"]["standalone_question"] == asked
    assert state["candidates"] == fresh["candidates"]
    assert not _condense(state)["condensed"]


async def test_a_model_that_repeats_the_question_changes_no_search(river: str) -> None:
    asked = "How many were there?"
    messages = [HumanMessage(FIRST), AIMessage("Ida Marrow built it [1]."), HumanMessage(asked)]
    with OpenAIStub(model(condense=Reply(asked))) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, strategy="none")
        state = await graph.ainvoke({"messages": messages}, context=context)
        assert Counter(step_of(call.request) for call in stub.calls)["condense"] == 1
    assert [query["kind"] for query in state["queries"]] == ["asked"]


@pytest.mark.parametrize(
    ("asked", "reply", "standalone"),
    [
        ("Did Tom Ashby rebuild it in 1862?", "Did somebody rebuild it?", "Did somebody rebuild it? {asked}"),
        ("When was it rebuilt?", "When was the Elbe barrage at Magdeburg rebuilt?", f"{FIRST} {{asked}}"),
        ("When was it rebuilt?", "It was rebuilt in 1899.", f"{FIRST} {{asked}}"),
    ],
)
async def test_what_a_model_loses_or_invents_does_not_decide_the_search(
    asked: str, reply: str, standalone: str, river: str
) -> None:
    messages = [HumanMessage(FIRST), AIMessage("Ida Marrow built it [1]."), HumanMessage(asked)]
    with OpenAIStub(model(condense=Reply(reply))) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, strategy="none")
        state = await graph.ainvoke({"messages": messages}, context=context)
    assert state["turn"]["standalone_question"] == standalone.format(asked=asked)
    assert state["queries"][1]["text"] == asked


@pytest.mark.parametrize(("budget", "read"), [(100_000, 12), (200, 8), (30, 1), (10, 0), (0, 0)])
async def test_the_conversation_is_read_up_to_its_budget_newest_first(
    budget: int, read: int, river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anabranch.agent.nodes.condense.HISTORY_TOKENS", budget)
    messages: list[Any] = []
    for number in range(12):
        messages += [
            HumanMessage(f"Who built gate {number}?"),
            AIMessage(f"Ida Marrow built gate {number} in May [1]."),
        ]
    messages.append(HumanMessage("When was it painted?"))
    with OpenAIStub(model(condense=Reply("When was gate 11 painted?"))) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, strategy="none")
        state = await graph.ainvoke({"messages": messages}, context=context)
        shown = [call.request.user for call in stub.calls if step_of(call.request) == "condense"]
    counts = _condense(state)
    assert counts["turns"] == 12
    assert counts["read"] + counts["left_out"] == 12
    if read:
        assert counts["read"] == read
        (prompt,) = shown
        assert [f"gate {number}?" in prompt for number in range(12)] == [
            number >= 12 - counts["read"] for number in range(12)
        ]
        assert state["turn"]["standalone_question"] == "When was gate 11 painted?"
    else:
        assert shown == []
        assert state["turn"]["standalone_question"] == "Who built gate 11? When was it painted?"


async def test_what_an_abstention_showed_is_not_gone_on_from(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    with OpenAIStub(model(create="The passages do not say.")) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, strategy="none")
        first = await compiled.ainvoke({"question": FIRST}, _config("none"), context=context)
        assert first["abstained"]
        await compiled.ainvoke({"question": "And when?"}, _config("none"), context=context)
        shown = next(call.request.user for call in stub.calls if step_of(call.request) == "condense")
    assert "Nearest passages" not in shown
    assert "not found in the documents" in shown
