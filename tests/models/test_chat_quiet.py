"""What no reader sees is not streamed, even where LangChain would: somebody listens to the graph's messages."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from anabranch.models.chat import ChatSettings, load_chat
from tests.servers.openai_stub import OpenAIStub

pytestmark = pytest.mark.loopback


class Said(TypedDict):
    """The replies."""

    asked: str
    streamed: str


async def test_only_the_answer_is_streamed() -> None:
    with OpenAIStub("one two three") as stub:

        async def work(_state: Said) -> Said:
            chat = await load_chat(ChatSettings("openai:stub", base_url=stub.base_url, retries=0))
            asked = await chat.ask("system", "user", max_tokens=10)
            return {
                "asked": asked,
                "streamed": "".join([p async for p in chat.stream("system", "user", max_tokens=10)]),
            }

        builder: StateGraph[Said, None, Said, Said] = StateGraph(Said)
        builder.add_node("work", work)
        builder.add_edge(START, "work")
        builder.add_edge("work", END)
        given: Any = {"asked": "", "streamed": ""}
        events = [event async for event in builder.compile().astream(given, stream_mode=["messages", "values"])]
        streams = [call.request.stream for call in stub.calls]
    assert events[-1][1] == {"asked": "one two three", "streamed": "one two three"}
    assert streams == [False, True]


async def test_a_slow_first_token_is_bounded_by_the_deadline_alone() -> None:
    with OpenAIStub("yes") as stub:
        chat = await load_chat(ChatSettings("openai:stub", base_url=stub.base_url, timeout=600))
        client: Any = chat._client
        assert client.stream_chunk_timeout is None
