"""Structured replies: what a model server accepts is tried strongest first, once, and remembered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from anabranch.errors import MissingKeyError, ModelError, RequestRefusedError, SettingsError
from anabranch.models import structured_output as shapes
from anabranch.models.chat import Chat, ChatSettings, load_chat
from anabranch.models.reply_budget import CHARS_PER_TOKEN
from anabranch.models.structured_output import means_of, said, shaped
from anabranch.models.usage import metered
from anabranch.parsing import VERDICT_SCHEMA, parse_verdict
from tests.servers import scripts
from tests.servers.calls import Request
from tests.servers.loopback import Reply, Script
from tests.servers.openai_stub import OpenAIStub

ENOUGH = '{"sufficient": true, "missing": ""}'


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    shapes.forget()
    yield
    shapes.forget()


def asked_for(request: Request) -> str:
    """Return the means that a request uses."""
    if request.body.get("tools"):
        return "tool"
    kind = (request.body.get("response_format") or {}).get("type", "text")
    return "json_mode" if kind == "json_object" else str(kind)


def body(request: Request, message: dict[str, Any], reason: str = "stop") -> Reply:
    """Return a completion with this message, whatever the stub itself would write."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    whole = {"id": "stub", "object": "chat.completion", "created": 0, "model": request.model, "choices": [choice]}
    return Reply(raw=json.dumps(whole | {"usage": usage}).encode())


def knows(*accepted: str, status: int = 400) -> Script:
    """Refuse every means but these, as servers do that never heard of them."""

    def play(request: Request) -> Reply:
        means = asked_for(request)
        if means not in accepted:
            return Reply(f"{means} is not supported", status=status)
        if means == "tool":
            call = {"id": "1", "type": "function", "function": {"name": "verdict", "arguments": ENOUGH}}
            return body(request, {"content": None, "tool_calls": [call]})
        return Reply(ENOUGH)

    return play


async def _chat(stub: OpenAIStub, **settings: Any) -> Chat:
    return await load_chat(ChatSettings("openai:stub", stub.base_url, timeout=60.0, retries=0, **settings))


async def _ask(chat: Chat, schema: Any = VERDICT_SCHEMA) -> str:
    return await chat.ask("Reply in JSON.", "enough or not?", max_tokens=50, schema=schema)


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("accepted", "tried"),
    [
        (("json_schema", "tool", "json_mode", "text"), ["json_schema"]),
        (("tool", "json_mode", "text"), ["json_schema", "tool"]),
        (("json_mode", "text"), ["json_schema", "tool", "json_mode"]),
        (("text",), ["json_schema", "tool", "json_mode", "text"]),
    ],
)
async def test_the_strongest_means_is_found_once_and_remembered(accepted: tuple[str, ...], tried: list[str]) -> None:
    with OpenAIStub(knows(*accepted)) as stub, metered() as meter:
        chat = await _chat(stub)
        assert parse_verdict(await _ask(chat)).sufficient
        assert [asked_for(call.request) for call in stub.calls] == tried
        await _ask(await _chat(stub), VERDICT_SCHEMA)
        assert [asked_for(call.request) for call in stub.calls] == [*tried, tried[-1]]
        # A refusal is no reply: nobody pays for it, and no budget is charged.
        assert meter.calls == 2
        assert meter.failures == []


@pytest.mark.loopback
@pytest.mark.parametrize("status", [400, 422, 501])
async def test_servers_refuse_in_several_ways(status: int) -> None:
    with OpenAIStub(knows("text", status=status)) as stub:
        assert parse_verdict(await _ask(await _chat(stub))).sufficient
        assert len(stub.calls) == 4


@pytest.mark.loopback
async def test_a_means_that_was_asked_for_by_name_is_not_replaced() -> None:
    with OpenAIStub(knows("text")) as stub:
        with pytest.raises(RequestRefusedError, match="tool is not supported"):
            await _ask(await _chat(stub, structured="tool"))
        assert parse_verdict(await _ask(await _chat(stub, structured="text"))).sufficient
        assert [asked_for(call.request) for call in stub.calls] == ["tool", "text"]


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("reply", "error"),
    [(scripts.UNAUTHORISED, MissingKeyError), (scripts.MISSING_MODEL, SettingsError), (scripts.BROKEN, ModelError)],
)
async def test_other_errors_are_not_taken_for_a_refusal(reply: Reply, error: type[Exception]) -> None:
    with OpenAIStub(reply) as stub:
        with pytest.raises(error):
            await _ask(await _chat(stub))
        assert len(stub.calls) == 1


@pytest.mark.loopback
async def test_a_request_refused_whatever_its_means_is_said() -> None:
    with OpenAIStub(Reply("context length exceeded", status=400)) as stub:
        with pytest.raises(RequestRefusedError, match="context length"):
            await _ask(await _chat(stub))
        assert len(stub.calls) == 4
        stub.script = knows("json_schema")
        await _ask(await _chat(stub))
        assert asked_for(stub.calls[-1].request) == "json_schema"


@pytest.mark.loopback
async def test_a_reply_that_reaches_its_limit_is_read_as_far_as_it_goes_and_it_is_said() -> None:
    half = '{"sufficient": false, "missing": "Half of a sen'
    with OpenAIStub(lambda request: body(request, {"content": half}, "length")) as stub, metered() as meter:
        assert await _ask(await _chat(stub)) == half
        assert await (await _chat(stub)).ask("x", "y", max_tokens=9) == half
    assert meter.calls == 2
    assert [reason for reason in meter.failures if "cut off" in reason] == meter.failures
    assert len(meter.failures) == 2


@pytest.mark.loopback
async def test_arguments_that_are_no_json_reach_the_parser() -> None:
    broken = '{"sufficient": true, "missing": '

    def play(request: Request) -> Reply:
        call = {"id": "1", "type": "function", "function": {"name": "verdict", "arguments": broken}}
        return body(request, {"content": None, "tool_calls": [call]})

    with OpenAIStub(play) as stub:
        reply = await _ask(await _chat(stub, structured="tool"))
    assert parse_verdict(reply).sufficient


@pytest.mark.loopback
async def test_a_server_that_ignores_the_limit_is_cut_and_it_is_said() -> None:
    with OpenAIStub("word " * 20_000) as stub, metered() as meter:
        chat = await _chat(stub)
        assert len(await chat.ask("x", "y", max_tokens=20)) == 20 * CHARS_PER_TOKEN
        assert len("".join([piece async for piece in chat.stream("x", "y", max_tokens=20)])) == 20 * CHARS_PER_TOKEN
    assert len(meter.failures) == 2


async def test_a_client_without_any_means_is_asked_in_words() -> None:
    fake = GenericFakeChatModel(messages=iter([AIMessage(ENOUGH)]))
    assert [means for means in means_of(fake, ("fake", None)) if shaped(fake, VERDICT_SCHEMA, means)] == ["text"]
    assert await _ask(Chat(fake, ChatSettings("fake"))) == ENOUGH


@pytest.mark.parametrize(
    ("profile", "first"),
    [
        ({}, "json_schema"),
        ({"structured_output": True, "tool_calling": True}, "json_schema"),
        ({"structured_output": False, "tool_calling": True}, "tool"),
        ({"max_input_tokens": 2048}, "json_mode"),
    ],
)
def test_a_profile_spares_the_trial(profile: dict[str, Any], first: str) -> None:
    fake = GenericFakeChatModel(messages=iter([]), profile=profile)
    assert means_of(fake, ("fake", None))[0] == first
    assert Chat(fake, ChatSettings("fake")).context_tokens == profile.get("max_input_tokens")


def test_what_is_said_is_text_before_it_is_a_tool_call() -> None:
    call = {"name": "x", "args": {"a": "é"}, "id": "1", "type": "tool_call"}
    assert said(AIMessage("text", tool_calls=[call])) == "text"
    assert said(AIMessage("", tool_calls=[call])) == '{"a": "é"}'
    assert said(AIMessage("")) == ""
