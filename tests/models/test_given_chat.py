"""A model object, any chat model of LangChain: it is used as it is, whole and in pieces."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from anabranch.models import chat as chats
from anabranch.models.chat import given_chat
from anabranch.models.reply_budget import RESERVES
from anabranch.models.usage import metered
from tests.servers.openai_stub import OpenAIStub


class Plain(BaseChatModel):
    """The least that a chat model is: it cannot stream, and takes whatever options it is called with."""

    limits: list[Any] = Field(default_factory=list)
    said: list[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "plain"

    def _generate(self, messages: list[BaseMessage], *_: Any, **options: Any) -> ChatResult:
        self.limits.append(options.get("max_tokens"))
        return ChatResult(generations=[ChatGeneration(message=self.said[min(len(self.limits), len(self.said)) - 1])])


async def _streamed(client: BaseChatModel) -> str:
    return "".join([piece async for piece in given_chat(client).stream("s", "u", max_tokens=100)])


@pytest.mark.parametrize("disable_streaming", [False, True])
async def test_any_model_whole_and_in_pieces(disable_streaming: bool) -> None:
    fake = FakeListChatModel(responses=["one two"], disable_streaming=disable_streaming)
    plain = Plain(said=[AIMessage("one two")], disable_streaming=disable_streaming)
    for client in (fake, plain):
        assert await given_chat(client).ask("s", "u", max_tokens=9) == "one two"
        assert await _streamed(client) == "one two"


async def test_no_deadline_but_its_own() -> None:
    chat = given_chat(FakeListChatModel(responses=["slow"], sleep=0.01))
    assert chat.settings.timeout is None
    assert await asyncio.wait_for(chat.ask("s", "u", max_tokens=9), 30) == "slow"


@pytest.mark.loopback
async def test_its_own_retries_and_temperature() -> None:
    from langchain_openai import ChatOpenAI

    from anabranch.errors import ModelError
    from tests.servers import scripts

    with OpenAIStub(scripts.in_turn(scripts.BROKEN, scripts.BROKEN, "fine")) as stub:
        options: Any = {"model": "m", "base_url": stub.base_url, "api_key": "x" * 9, "temperature": 0.7}
        assert await given_chat(ChatOpenAI(max_retries=2, **options)).ask("s", "u", max_tokens=9) == "fine"
        assert [call.request.body["temperature"] for call in stub.calls] == [0.7] * 3
    with OpenAIStub(scripts.BROKEN) as stub:
        options["base_url"] = stub.base_url
        with pytest.raises(ModelError, match=r"ChatOpenAI\(m\)"):
            await given_chat(ChatOpenAI(max_retries=0, **options)).ask("s", "u", max_tokens=9)
        assert len(stub.calls) == 1


def test_objects_are_told_apart_and_kept_to_a_bound() -> None:
    first, second = FakeListChatModel(responses=["x"]), FakeListChatModel(responses=["x"])
    assert given_chat(first) is given_chat(first)
    assert given_chat(first).learned is not given_chat(second).learned
    for _ in range(chats.GIVEN + 3):
        given_chat(FakeListChatModel(responses=["x"]))
    assert len(chats._given) == chats.GIVEN


@pytest.mark.parametrize("effort", [{}, {"reasoning_output": True}])
async def test_a_model_whose_profile_says_that_it_thinks_has_room_on_the_first_call(effort: dict[str, Any]) -> None:
    plain = Plain(said=[AIMessage("October.")], profile=effort, limits=[])
    await given_chat(plain).ask("s", "u", max_tokens=120)
    assert plain.limits == [120 + (RESERVES[1] if effort else 0)]


async def test_no_more_room_than_the_model_can_write() -> None:
    plain = Plain(said=[AIMessage("x")], profile={"reasoning_output": True, "max_output_tokens": 1_000}, limits=[])
    await given_chat(plain).ask("s", "u", max_tokens=120)
    await given_chat(plain).ask("s", "u", max_tokens=2_000)
    assert plain.limits == [1_000, 2_000]


THOUGHTS = {"type": "thinking", "thinking": "hm", "signature": "x"}
SAID = {"type": "text", "text": "October."}


@pytest.mark.parametrize(
    "reply",
    [
        AIMessage("<think>hm</think>October."),
        AIMessage([THOUGHTS, SAID]),
        AIMessage([{"type": "reasoning", "reasoning": "hm"}, SAID]),
        AIMessage("October.", additional_kwargs={"reasoning_content": "hm"}),
    ],
)
async def test_thoughts_are_left_out_of_the_text(reply: AIMessage) -> None:
    plain = Plain(said=[reply], limits=[])
    assert await given_chat(plain).ask("s", "u", max_tokens=9) == "October."
    assert await _streamed(plain) == "October."


@pytest.mark.parametrize(
    "empty",
    [AIMessage("", additional_kwargs={"reasoning_content": "hm"}), AIMessage([THOUGHTS]), AIMessage("<think>hm")],
)
@pytest.mark.parametrize("live", [False, True])
async def test_thoughts_without_an_answer_are_asked_again_once_with_more_room(empty: AIMessage, live: bool) -> None:
    plain = Plain(said=[empty, AIMessage("October.")], limits=[])
    with metered() as meter:
        said = await (_streamed(plain) if live else given_chat(plain).ask("s", "u", max_tokens=100))
    assert said == "October."
    assert plain.limits == [100, 100 + RESERVES[1]]
    assert meter.calls == 2
