"""What a chat page, and another model, is given of an answer: LangChain's standard blocks, sources, and tokens."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_openai import ChatOpenAI

from anabranch.agent.nodes.settings import Context
from anabranch.citations.answer_sources import with_sources
from anabranch.citations.citation_record import LONGEST
from anabranch.types import Citation
from tests.graph.inside import graph
from tests.graph.replies import model
from tests.servers.anthropic_stub import AnthropicStub
from tests.servers.openai_stub import OpenAIStub

QUESTION = "What measures protect the town from floods on the Halden?"


def citation(marker: int, **changes: Any) -> Citation:
    whole: Any = {
        "marker": marker, "source": "weir.md", "title": "Weirs", "page": 3, "heading": "Weirs > Halden",
        "chunk_id": "c", "claim": "x", "quote": "q", "start": 0, "end": 1, "grade": "quoted", "judged": "", "link": "file:///weir.md",
    }  # fmt: skip
    return Citation(**{**whole, **changes})


async def _asked(river: str, **settings: Any) -> dict[str, Any]:
    return await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, **settings))


async def test_the_content_is_a_standard_block_whose_annotations_are_the_sources(river: str) -> None:
    state = await _asked(river)
    (message,) = state["messages"][1:]
    (block,) = message.content_blocks
    assert block["text"] == message.text == state["answer"]
    assert len(block["annotations"]) == len(state["citations"]) >= 1
    for found, cited in zip(block["annotations"], state["citations"], strict=True):
        assert block["text"][found["start_index"] : found["end_index"]] == f"[{cited['marker']}]"
        # Of a passage that is shown whole the beginning: all of it is in the text.
        assert found["cited_text"] == cited["quote"][:LONGEST]
        assert (found["type"], found["url"]) == ("citation", cited["link"])
        assert cited["heading"] in found["title"]
    places = [found["start_index"] for found in block["annotations"]]
    assert all(before <= after for before, after in pairwise(places))


async def test_without_links_a_source_is_named_all_the_same(river: str) -> None:
    state = await _asked(river, file_links=False)
    annotations = state["messages"][-1].content_blocks[0]["annotations"]
    assert annotations
    assert all(found["title"] and "url" not in found for found in annotations)


async def test_an_abstention_and_a_greeting_have_no_source(river: str) -> None:
    for question in ("zyzzyva qwertzu?", "Hello!"):
        state = await graph.ainvoke({"question": question}, context=Context(corpus=river, retrievers=("bm25",)))
        assert state["messages"][-1].content_blocks == [{"type": "text", "text": state["answer"], "annotations": []}]


def test_claims_that_share_a_marker_have_their_own_places_in_turn() -> None:
    answer = "One [1]. Two [2]. Three [1]."
    block = with_sources(answer, [citation(1), citation(2), citation(1), citation(1), citation(3)])
    places = [found.get("start_index") for found in block["annotations"]]
    assert places == [4, 13, 24, 4, None]  # more claims than markers; a marker that went
    assert {found["title"] for found in block["annotations"]} == {"Weirs > Halden, p. 3"}
    other = with_sources(answer, [citation(1, title="", heading="", page=None)])["annotations"][0]
    assert other["title"] == "weir.md"


async def test_an_answer_that_no_model_writes_is_streamed_as_words_too(river: str) -> None:
    pieces: list[Any] = []
    async for mode, item in graph.astream(
        {"question": QUESTION}, context=Context(corpus=river), stream_mode=["messages", "values"]
    ):
        if mode == "messages":
            pieces.append(item[0])
        else:
            state = item
    assert all(isinstance(piece, AIMessageChunk) and isinstance(piece.content, str) for piece in pieces)
    assert "".join(piece.content for piece in pieces) == state["answer"]
    assert {piece.id for piece in pieces} == {state["messages"][-1].id}


@pytest.mark.loopback
async def test_a_message_tells_the_tokens_of_all_calls_of_its_question(river: str) -> None:
    assert (await _asked(river))["messages"][-1].usage_metadata is None
    with OpenAIStub(model()) as stub:
        state = await _asked(river, model="openai:stub", base_url=stub.base_url, model_retries=0, grade="llm")
    usage = state["usage"]
    assert usage["calls"] >= 2
    assert state["messages"][-1].usage_metadata == {
        "input_tokens": usage["prompt_tokens"],
        "output_tokens": usage["output_tokens"],
        "total_tokens": usage["prompt_tokens"] + usage["output_tokens"],
    }


@pytest.mark.loopback
async def test_a_model_that_goes_on_with_the_conversation_is_sent_the_words_alone(river: str) -> None:
    """Providers refuse fields that they do not know; what their LangChain clients send of a message is tried here."""
    from langchain_anthropic import ChatAnthropic  # its client takes seconds, which each test process would pay

    state = await _asked(river)
    told = [*state["messages"], HumanMessage("Thank you.")]
    with OpenAIStub("You are welcome.") as openai, AnthropicStub("You are welcome.") as anthropic:
        models: list[tuple[Any, BaseChatModel]] = [
            (openai, ChatOpenAI(model="stub", base_url=openai.base_url, api_key="x", max_retries=0)),
            (anthropic, ChatAnthropic(model="claude-stub", base_url=anthropic.url, api_key="x", max_tokens=99)),
        ]
        for stub, chat in models:
            assert isinstance(await chat.ainvoke(told), AIMessage)
            (sent,) = [each for each in stub.calls[-1].request.messages if each["role"] == "assistant"]
            assert sent["content"] == [{"type": "text", "text": state["answer"]}]
