"""Models that reason before they write: an empty reply is asked for again with more room, which is remembered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from anabranch.errors import ModelError
from anabranch.models import reply_budget
from anabranch.models.chat import Chat, ChatSettings, load_chat
from anabranch.models.reply_budget import KEPT, RESERVES, learned_of
from anabranch.models.usage import allow_repeats, metered
from anabranch.parsing.reasoning_blocks import drop_thinking
from tests.servers.calls import Request
from tests.servers.loopback import Reply, Script
from tests.servers.openai_stub import OpenAIStub


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    reply_budget._learned.clear()
    yield
    reply_budget._learned.clear()


def ceiling_of(request: Request) -> int:
    """Return how many tokens a request lets the model write, thoughts included."""
    return int(request.body.get("max_completion_tokens") or request.body["max_tokens"])


def completion(request: Request, text: str, reason: str, reasoning: int = 0) -> Reply:
    """Return a completion, streamed where that is asked for, that ended for a reason."""
    frame = {"id": "stub", "created": 0, "model": request.model}
    used = max(reasoning, 1)
    details = {"completion_tokens_details": {"reasoning_tokens": reasoning}} if reasoning else {}
    usage = {"usage": {"prompt_tokens": 7, "completion_tokens": used, "total_tokens": 7 + used, **details}}
    if not request.stream:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
        return Reply(raw=json.dumps(frame | {"object": "chat.completion", "choices": [choice]} | usage).encode())
    deltas = [({"role": "assistant", "content": text}, None), ({}, reason)]
    events = [
        frame | {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": d, "finish_reason": r}]}
        for d, r in deltas
    ]
    events.append(frame | {"object": "chat.completion.chunk", "choices": [], **usage})
    raw = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    return Reply(raw=raw.encode(), headers={"Content-Type": "text/event-stream"})


def reasoning(text: str, needs: int = 1_000, *, before: str = "", most: int = 10**9) -> Script:
    """Say nothing, or only `before`, unless there is room for `needs` tokens; refuse to be given more than `most`."""

    def play(request: Request) -> Reply:
        room = ceiling_of(request)
        if room > most:
            return Reply("maximum context length exceeded", status=400)
        if room < needs:
            return completion(request, before, "length", 0 if before else room)
        return completion(request, text, "stop", needs)

    return play


async def _chat(stub: OpenAIStub, model: str = "openai:thinker", **settings: Any) -> Chat:
    return await load_chat(ChatSettings(model, stub.base_url, timeout=10.0, retries=0, **settings))


async def _streamed(chat: Chat, max_tokens: int = 200) -> str:
    return "".join([piece async for piece in chat.stream("s", "u", max_tokens=max_tokens)])


def _ceilings(stub: OpenAIStub) -> list[int]:
    return [ceiling_of(call.request) for call in stub.calls]


@pytest.mark.loopback
async def test_an_empty_reply_is_asked_again_with_more_room_and_the_next_call_begins_there() -> None:
    with OpenAIStub(reasoning("October.")) as stub, metered() as meter:
        chat = await _chat(stub)
        assert await chat.ask("s", "u", max_tokens=200) == "October."
        assert await chat.ask("s", "u", max_tokens=120) == "October."
        assert _ceilings(stub) == [200, 200 + RESERVES[1], 120 + RESERVES[1]]
    assert meter.calls == 3
    assert meter.failures == []


@pytest.mark.loopback
async def test_streams_are_asked_again_where_nothing_was_shown() -> None:
    with OpenAIStub(reasoning("In October.")) as stub, metered() as meter:
        chat = await _chat(stub)
        assert await _streamed(chat) == "In October."
        assert await _streamed(chat) == "In October."
        assert _ceilings(stub) == [200, 200 + RESERVES[1], 200 + RESERVES[1]]
    assert meter.calls == 3
    assert meter.failures == []


@pytest.mark.loopback
async def test_a_stream_cut_off_after_its_first_words_is_not_begun_anew_but_the_next_has_room() -> None:
    with OpenAIStub(reasoning("In October.", before="In Oc")) as stub, metered() as meter:
        chat = await _chat(stub)
        assert await _streamed(chat) == "In Oc"
        assert await _streamed(chat) == "In October."
    (said,) = meter.failures
    assert "answer_tokens" in said


@pytest.mark.loopback
@pytest.mark.parametrize("thought", ["<think>The boiler, hm. ", "<think>Die Heizung, hm. ", "Oct"])
async def test_thoughts_and_a_few_characters_are_no_reply(thought: str) -> None:
    with OpenAIStub(reasoning("October.", before=thought)) as stub, metered() as meter:
        assert await (await _chat(stub)).ask("s", "u", max_tokens=200) == "October."
    assert meter.failures == []


@pytest.mark.loopback
async def test_thoughts_that_are_streamed_are_no_reply() -> None:
    with OpenAIStub(reasoning("October.", before="<think>hm ")) as stub:
        # Some servers tag thoughts only while they fit: what follows an open thought must not be taken for one.
        assert drop_thinking(await _streamed(await _chat(stub))).strip() == "October."
        assert len(stub.calls) == 2


@pytest.mark.loopback
async def test_a_reply_that_is_as_long_as_allowed_is_not_asked_again() -> None:
    long = "Im Oktober wird die Heizung vom Installateur gewartet und geprüft. " * 4

    def play(request: Request) -> Reply:
        return completion(request, long, "length")

    with OpenAIStub(play) as stub, metered() as meter:
        assert await (await _chat(stub)).ask("s", "u", max_tokens=100) == long
        assert len(stub.calls) == 1
    assert len(meter.failures) == 1


@pytest.mark.loopback
async def test_an_empty_reply_that_had_room_is_not_asked_again() -> None:
    with OpenAIStub(lambda request: completion(request, "", "content_filter")) as stub:
        with pytest.raises(ModelError, match="nothing"):
            await (await _chat(stub)).ask("s", "u", max_tokens=100)
        assert len(stub.calls) == 1


@pytest.mark.loopback
@pytest.mark.parametrize("live", [False, True])
async def test_what_is_never_enough_is_said_with_what_to_do_and_grows_to_a_bound(live: bool) -> None:
    with OpenAIStub(reasoning("x", needs=10**6)) as stub:
        chat = await _chat(stub)
        for _ in range(3):
            with pytest.raises(ModelError, match="answer_tokens"):
                await (_streamed(chat, 100) if live else chat.ask("s", "u", max_tokens=100))
        first, second, last = RESERVES
        assert _ceilings(stub) == [100 + each for each in (first, second, second, last, last)]


@pytest.mark.loopback
@pytest.mark.parametrize("live", [False, True])
async def test_a_server_with_no_room_for_more_keeps_what_it_can_do(live: bool) -> None:
    with OpenAIStub(reasoning("October.", most=1_500)) as stub:
        chat = await _chat(stub)

        async def ask(most: int) -> str:
            return await (_streamed(chat, most) if live else chat.ask("s", "u", max_tokens=most))

        with pytest.raises(ModelError, match="answer_tokens"):
            await ask(200)
        assert await ask(1_200) == "October."
        learned_of("openai:thinker", stub.base_url).level = 1  # a shorter prompt had room for it
        assert await ask(1_200) == "October."
        assert _ceilings(stub) == [200, 200 + RESERVES[1], 1_200, 1_200 + RESERVES[1], 1_200]


@pytest.mark.loopback
@pytest.mark.parametrize("live", [False, True])
async def test_no_budget_is_exceeded_to_ask_again(live: bool) -> None:
    with OpenAIStub(reasoning("October.")) as stub:
        chat = await _chat(stub)
        for calls, tokens in ((0, 10**6), (1, 1_000)):
            with metered() as meter:
                allow_repeats(calls, tokens)
                with pytest.raises(ModelError, match="answer_tokens"):
                    await (_streamed(chat) if live else chat.ask("s", "u", max_tokens=200))
            assert meter.calls == 1
        with metered() as meter:
            allow_repeats(1, 10**6)
            assert await (_streamed(chat) if live else chat.ask("s", "u", max_tokens=200)) == "October."
            learned_of("openai:thinker", stub.base_url).level = 0
            with pytest.raises(ModelError):
                await (_streamed(chat) if live else chat.ask("s", "u", max_tokens=200))
        assert meter.calls == 3


@pytest.mark.loopback
async def test_what_one_model_needs_is_not_given_to_another() -> None:
    with OpenAIStub(reasoning("yes")) as stub, OpenAIStub(reasoning("no", needs=1)) as other:
        await (await _chat(stub)).ask("s", "u", max_tokens=100)
        await (await _chat(stub, "openai:plain")).ask("s", "u", max_tokens=2_000)
        await (await _chat(other)).ask("s", "u", max_tokens=100)
        assert _ceilings(stub)[-1] == 2_000
        assert _ceilings(other) == [100]
        assert learned_of("openai:thinker", stub.base_url).level == 1


def test_what_is_remembered_has_a_bound() -> None:
    for number in range(KEPT + 10):
        learned_of(f"openai:{number}", None).level = 1
    assert learned_of(f"openai:{KEPT + 9}", None).level == 1
    assert learned_of("openai:0", None).level == 0
