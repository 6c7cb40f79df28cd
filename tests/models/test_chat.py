"""Talking to a chat model: text back in bounded time, and errors sorted by whose fault they are."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from anabranch.errors import MissingKeyError, ModelError, RequestRefusedError, SettingsError
from anabranch.models.chat import Chat, ChatSettings, load_chat
from anabranch.models.reply_budget import CHARS_PER_TOKEN
from anabranch.models.usage import metered
from tests.servers import scripts
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub


async def _chat(stub: OpenAIStub, **settings: Any) -> Chat:
    given = {"model": "openai:stub", "base_url": stub.base_url, "timeout": 60.0, "retries": 0, **settings}
    return await load_chat(ChatSettings(**given))


@pytest.mark.loopback
async def test_a_reply_comes_whole_and_in_pieces_and_is_counted() -> None:
    with OpenAIStub("one two three") as stub:
        chat = await _chat(stub)
        with metered() as meter:
            assert await chat.ask("system", "user", max_tokens=50) == "one two three"
            pieces = [piece async for piece in chat.stream("system", "user", max_tokens=50)]
        assert "".join(pieces) == "one two three"
        assert len(pieces) > 2
        assert meter.calls == 2
        assert meter.prompt_tokens > 0
        assert meter.output_tokens > 0
        assert [call.request.stream for call in stub.calls] == [False, True]
        assert stub.calls[0].request.system == "system"


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (scripts.UNAUTHORISED, MissingKeyError),
        (scripts.MISSING_MODEL, SettingsError),
        (Reply("maximum context length is 10 tokens", status=400), RequestRefusedError),
        (Reply("request entity too large", status=413), RequestRefusedError),
        (scripts.BROKEN, ModelError),
        (scripts.rate_limited(0.01), ModelError),
        (scripts.NONSENSE, ModelError),
        (scripts.no_choices, ModelError),
        (scripts.SILENT, ModelError),
        (scripts.DRIP, ModelError),
    ],
)
async def test_failures_are_sorted(reply: Any, error: type[Exception]) -> None:
    with OpenAIStub(reply) as stub:
        chat = await _chat(stub, timeout=1.0 if reply in (scripts.SILENT, scripts.DRIP) else 60.0)
        with metered() as meter, pytest.raises(error) as raised:
            [piece async for piece in chat.stream("s", "u", max_tokens=10)]
        assert meter.calls == 1
    assert raised.value.hint  # type: ignore[attr-defined]


@pytest.mark.loopback
async def test_passing_failures_are_tried_again() -> None:
    with OpenAIStub(scripts.in_turn(scripts.BROKEN, "fine")) as stub:
        chat = await _chat(stub, retries=1, timeout=60.0)
        assert await chat.ask("s", "u", max_tokens=10) == "fine"
        assert len(stub.calls) == 2


@pytest.mark.loopback
async def test_a_server_that_ignores_the_limit_is_cut_and_it_is_said() -> None:
    with OpenAIStub("word " * 20_000) as stub, metered() as meter:
        chat = await _chat(stub)
        assert len(await chat.ask("x", "y", max_tokens=20)) == 20 * CHARS_PER_TOKEN
        assert len("".join([piece async for piece in chat.stream("x", "y", max_tokens=20)])) == 20 * CHARS_PER_TOKEN
    assert len(meter.failures) == 2


@pytest.mark.loopback
async def test_a_hosted_key_never_goes_to_a_server_of_the_callers_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with OpenAIStub("x") as stub:
        await (await _chat(stub)).ask("s", "u", max_tokens=10)
        assert "sk-secret" not in str(dict(stub.calls[0].request.headers))


@pytest.mark.loopback
async def test_the_operators_key_goes_to_the_operators_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_BASE_URL_KEY", "own-key")
    with OpenAIStub("x") as own, OpenAIStub("x") as strangers:
        monkeypatch.setenv("ANABRANCH_BASE_URL", f"{own.base_url}/")
        for stub in (own, strangers):
            await (await _chat(stub)).ask("s", "u", max_tokens=10)
        assert "own-key" in str(dict(own.calls[0].request.headers))
        assert "own-key" not in str(dict(strangers.calls[0].request.headers))


@pytest.mark.loopback
def test_two_event_loops_one_after_the_other() -> None:
    with OpenAIStub("x") as stub:

        async def once() -> str:
            return await (await _chat(stub)).ask("s", "u", max_tokens=10)

        assert asyncio.run(once()) == "x"
        assert asyncio.run(once()) == "x"


async def test_a_model_that_cannot_be_had_is_said_before_any_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setitem(sys.modules, "langchain_mistralai", None)  # whether or not it is installed here
    with pytest.raises(MissingKeyError):
        await load_chat(ChatSettings(model="openai:gpt-5-mini"))
    with pytest.raises(SettingsError, match="fireworks"):
        await load_chat(ChatSettings(model="fireworks:large"))
    with pytest.raises(SettingsError, match="no-such-provider"):
        await load_chat(ChatSettings(model="no-such-provider:x"))
    with pytest.raises(SettingsError, match="provider:name"):
        await load_chat(ChatSettings(model="xyzzy"))


@pytest.mark.parametrize("reading", [0.0, 0.03])
async def test_a_stream_over_its_deadline_is_an_error_and_cancels_nobody(reading: float) -> None:
    """Also where it is over while the reader is busy with what has come."""
    client = FakeListChatModel(responses=["x" * 5_000], sleep=0.002)
    chat = Chat(client, ChatSettings("slow", timeout=0.2))
    with pytest.raises(ModelError, match="did not answer within"):
        async for _ in chat.stream("s", "u", max_tokens=5_000):
            await asyncio.sleep(reading)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
