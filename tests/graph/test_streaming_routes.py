"""The contract of the streams on every route: `messages` has the final answer's tokens alone, `custom` the drafts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph

from anabranch.agent.nodes.settings import Context
from anabranch.agent.prompts import CREATE
from anabranch.safety.prompt_leak import find_runs
from tests.graph.inside import graph
from tests.graph.replies import model, step_of, written
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Script, as_script

pytestmark = pytest.mark.loopback

QUESTION = "What measures protect the town from floods on the Halden?"
FOLLOW_UP = "What protects the town from its floods?"
BEFORE: list[Any] = [HumanMessage("Who built the weir on the Halden?"), AIMessage("Ida Marrow.")]
ANSWER = "Three measures protect the town [1]. The relief channel carries a third of a flood around the weir [1]."
MANY: dict[str, Any] = {"window_tokens": 80, "merge_threshold": 1.0, "top_k": 6}
EVERY_CALL: dict[str, Any] = {"rerank": "llm", "grade": "llm", "retrievers": ("bm25", "llm")}
ROUTES: dict[str, dict[str, Any]] = {
    "create": {},
    "stuff": {"synthesis": "stuff", **MANY},
    "refine": {"synthesis": "refine", **MANY},
    "map_reduce": {"synthesis": "map_reduce", **MANY, "fan_in": 2, "answer_form": "cited"},
    "map_reduce in one level": {"synthesis": "map_reduce", **MANY, "fan_in": 20, "answer_form": "cited"},
}
_BARE = re.compile(r"\s*\[[\d?]+\]")


def slowly(script: Script, pause: float = 0.01) -> Script:
    """Have every streamed reply come word by word."""

    def play(request: Request) -> Reply:
        reply = script(request)
        return replace(reply, chunk_delay=pause) if request.stream else reply

    return play


class Seen:
    """What came out of a stream, in its order, and which model calls were unfinished when it came."""

    def __init__(self, stub: OpenAIStub) -> None:
        self._stub = stub
        self.items: list[tuple[str, Any]] = []
        self.writing: list[list[str]] = []
        self.state: dict[str, Any] = {}

    def take(self, mode: str, item: Any) -> None:
        if mode == "values":
            self.state = item
            return
        self.items.append((mode, item[0] if mode == "messages" else item))
        self.writing.append([step_of(call.request) for call in self._stub.unfinished])

    @property
    def pieces(self) -> list[Any]:
        return [item for mode, item in self.items if mode == "messages"]

    @property
    def drafts(self) -> list[str]:
        return [item["answer"] for mode, item in self.items if mode == "custom" and item.get("status") == "draft"]

    def first(self, mode: str, status: str = "") -> int:
        return next(
            place
            for place, (each, item) in enumerate(self.items)
            if each == mode and (not status or item.get("status") == status)
        )

    def before(self, place: int) -> list[str]:
        """Return the steps that had ended by then."""
        return [item["step"] for mode, item in self.items[:place] if mode == "custom" and item["status"] == "finished"]


async def seen(river: str, script: Script, question: str = QUESTION, **settings: Any) -> Seen:
    with OpenAIStub(script) as stub:
        found = Seen(stub)
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, model_retries=0, **settings)
        given: Any = {"messages": [*BEFORE, HumanMessage(question)]}
        async for mode, item in graph.astream(given, context=context, stream_mode=["messages", "values", "custom"]):
            found.take(mode, item)
    return found


def words(text: str) -> str:
    """Return an answer without its markers, which are set anew once they are verified."""
    return " ".join(_BARE.sub("", text).split())


@pytest.mark.parametrize("route", ROUTES)
async def test_no_other_call_is_heard(route: str, river: str) -> None:
    """Every call on the way says a word that no passage has; the calls that plan, judge and read are not overheard."""
    spoken: set[str] = set()

    def overheard(request: Request) -> Reply:
        step = step_of(request)
        spoken.add(step)
        reply = as_script(model())(request)
        if step in ("condense", "rewrite"):
            return replace(reply, text="xyzzy weir\nxyzzy dam\nxyzzy flood")
        if step in ("refine", "reduce") or (step == "create" and route not in ("create", "stuff")):
            return replace(reply, text=reply.text.replace(" the ", " the xyzzy ", 1))
        return replace(reply, text=f"{reply.text} xyzzy") if step in ("rerank", "retrieve", "grade") else reply

    found = await seen(river, slowly(overheard), FOLLOW_UP, **ROUTES[route], **EVERY_CALL)
    assert {"condense", "rewrite", "rerank", "grade", "retrieve"} <= spoken
    streamed = "".join(piece.text for piece in found.pieces)
    final = found.state["messages"][-1]
    assert {piece.id for piece in found.pieces} == {final.id}
    assert words(streamed) == words(final.text)
    if route in ("create", "stuff"):
        assert "xyzzy" not in streamed
    else:
        # The words of the last level, or of the last draft, are the answer's; each came once.
        assert streamed.count("xyzzy") == final.text.count("xyzzy")


@pytest.mark.parametrize("route", ["create", "map_reduce", "map_reduce in one level"])
async def test_the_first_words_come_while_the_last_call_writes(route: str, river: str) -> None:
    last = "reduce" if "reduce" in route else "create"
    script = model() if last == "reduce" else model(create=ANSWER)
    found = await seen(river, slowly(script, 0.04), **ROUTES[route])
    first = found.first("messages")
    assert found.writing[first] == [last]
    assert found.before(first)[-1] == ("gather" if last == "reduce" else "pack")
    assert len(found.pieces) > 10
    assert found.drafts == []


async def test_refine_shows_its_first_draft_and_each_revision_once_it_is_done(river: str) -> None:
    found = await seen(river, slowly(model(create=ANSWER)), **ROUTES["refine"])
    assert found.drafts == [ANSWER]
    assert found.before(found.first("custom", "draft"))[-1] == "pack"
    revisions = [item for mode, item in found.items if mode == "custom" and item.get("status") == "add"]
    assert len(revisions) == len(found.state["windows"]) - 1
    # The final text comes once, after the last check.
    assert [piece.text for piece in found.pieces] == [found.state["answer"]]
    assert found.before(found.first("messages"))[-1] == "cite"


async def test_a_draft_to_be_refined_shows_no_instructions(river: str) -> None:
    leak = f"{ANSWER} {CREATE}"
    found = await seen(river, model(create=leak, refine="KEEP"), **ROUTES["refine"])
    assert found.drafts
    assert found.drafts[0].startswith(ANSWER)
    assert not any(find_runs(draft) & find_runs(CREATE) for draft in found.drafts)


@pytest.mark.parametrize("modes", [["values"], ["custom"]])
@pytest.mark.parametrize("route", ["create", "refine"])
async def test_a_final_answer_is_streamed_and_a_draft_is_not_whoever_listens(
    route: str, modes: list[Any], river: str
) -> None:
    with OpenAIStub(model(create=ANSWER)) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, model_retries=0, **ROUTES[route])
        async for _ in graph.astream({"question": QUESTION}, context=context, stream_mode=modes):
            pass
        streams = {step_of(call.request): call.request.stream for call in stub.calls}
    assert streams["create"] is (route == "create")
    assert not any(stream for step, stream in streams.items() if step != "create")


async def test_a_first_window_without_the_answer_shows_no_draft(river: str) -> None:
    for refusal in ("The passages do not tell of measures.", "Die Abschnitte sagen nichts von Maßnahmen [1]."):
        found = await seen(river, slowly(model(create=refusal)), **ROUTES["refine"])
        assert found.drafts == []


@pytest.mark.parametrize(
    ("route", "script", "shown"),
    [
        ("create", model(create=Reply("Three measures " * 9, chunk_delay=0.005, cut=True)), 1),
        ("refine", model(create=Reply("Three measures protect", chunk_delay=0.005, cut=True)), 1),
        ("map_reduce in one level", model(reduce=Reply("Three measures " * 9, chunk_delay=0.005, cut=True)), 1),
        ("create", model(create="Owls eat ninety mice [1]. They fly at noon [1]."), 1),
        (
            "create",
            model(create="I do not know the answer to this question, sorry."),
            2,
        ),  # a refusal is asked once more
    ],
)
async def test_what_does_not_become_the_answer_has_another_id(
    route: str, script: Script, shown: int, river: str
) -> None:
    """A client that shows the text of the last id ends with the answer."""
    found = await seen(river, slowly(script), **ROUTES[route])
    final = found.state["messages"][-1]
    assert "".join(piece.text for piece in found.pieces if piece.id == final.id) == final.text
    ids = list(dict.fromkeys(piece.id for piece in found.pieces))
    assert ids[-1] == final.id
    assert [piece.id for piece in found.pieces] == sorted((piece.id for piece in found.pieces), key=ids.index)
    if route != "refine":
        assert len(ids) == 1 + shown


async def test_markers_set_anew_replace_the_message_by_its_id(river: str) -> None:
    """The model cites passage 2 first and claims what no passage says: the streamed text is put right at the end."""

    def script(request: Request) -> Reply:
        return Reply(f"{written(request).text} [2] Owls eat ninety mice [1].", chunk_delay=0.005)

    found = await seen(river, model(create=script))
    final = found.state["messages"][-1]
    streamed = "".join(piece.text for piece in found.pieces)
    assert {piece.id for piece in found.pieces} == {final.id}
    assert streamed != final.text
    assert words(streamed) == words(final.text)
    assert [message.id for message in found.state["messages"]].count(final.id) == 1


def _streamed(pieces: list[Any]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, AIMessageChunk))


def test_a_synchronous_caller_sees_the_same(river: str) -> None:
    with OpenAIStub(slowly(model(create=ANSWER))) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, model_retries=0)
        unfinished: list[list[str]] = []
        pieces = []
        for piece, _ in graph.stream({"question": QUESTION}, context=context, stream_mode="messages"):
            pieces.append(piece)
            unfinished.append([step_of(call.request) for call in stub.unfinished])
    assert _streamed(pieces) == ANSWER
    assert unfinished[0] == ["create"]


async def test_events_carry_the_answer_and_mark_the_models_own_words(river: str) -> None:
    """In `astream_events` the chunks of the graph itself are the answer; raw words of models are tagged `nostream`."""
    pieces, raw = [], []
    with OpenAIStub(slowly(model(create=ANSWER))) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, model_retries=0)
        events = graph.astream_events({"question": QUESTION}, context=context, version="v2", stream_mode=["messages"])
        async for event in events:
            if event["event"] == "on_chain_stream" and not event["parent_ids"]:
                mode, (piece, _) = event["data"]["chunk"]
                assert mode == "messages"
                pieces.append(piece)
            elif event["event"] == "on_chat_model_stream":
                raw.append(event)
    assert _streamed(pieces) == ANSWER
    assert raw
    assert all("nostream" in event["tags"] for event in raw)


@pytest.mark.parametrize("subgraphs", [True, False])
async def test_a_graph_inside_another_streams_where_subgraphs_are_asked_for(subgraphs: bool, river: str) -> None:
    with OpenAIStub(slowly(model(create=ANSWER), 0.04)) as stub:
        settings = {"corpus": river, "model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}

        async def answer(state: MessagesState) -> dict[str, Any]:
            found = await graph.ainvoke({"messages": state["messages"]}, context=Context(**settings))
            return {"messages": found["messages"][-1:]}

        parent = StateGraph(MessagesState)
        parent.add_node("answer", answer)
        parent.add_edge(START, "answer")
        parent.add_edge("answer", END)
        pieces = []
        given: Any = {"messages": [HumanMessage(QUESTION)]}
        async for item in parent.compile().astream(given, stream_mode="messages", subgraphs=subgraphs):
            pieces.append((item[1] if subgraphs else item)[0])
    texts = [piece.text for piece in pieces]
    if subgraphs:
        assert len(texts) > 10
        assert "".join(texts) == ANSWER
    else:
        assert texts == [ANSWER]
    assert len({piece.id for piece in pieces}) == 1
