"""Tokens that arrive close together are read as one, and nothing else changes, is lost or waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.models import joining
from anabranch.models.joining import PAUSE, in_bursts, joined


def delta(text: str | None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": None, **more}
    return b"data: " + json.dumps({"id": "c-1", "model": "stub", "choices": [choice]}).encode()


DONE = b"data: [DONE]"
USAGE = b"data: " + json.dumps({"id": "c-1", "choices": [], "usage": {"total_tokens": 7}}).encode()


def texts(sent: bytes) -> list[Any]:
    frames = [json.loads(event[6:]) for event in sent.split(b"\n\n") if event.startswith(b"data: {")]
    return [choice["delta"].get("content") for frame in frames for choice in frame["choices"]]


async def arriving(pieces: list[bytes], seconds: float = 0.0) -> AsyncIterator[bytes]:
    for piece in pieces:
        await asyncio.sleep(seconds)
        yield piece


async def test_tokens_are_read_together() -> None:
    events = [delta(None, delta={"role": "assistant", "content": ""}), *(delta(f"w{n} ") for n in range(40))]
    pieces = [event + b"\n\n" for event in [*events, delta(None, finish_reason="stop"), USAGE, DONE]]
    read = [burst async for burst in in_bursts(arriving(pieces, 0.001))]
    assert len(read) < len(pieces) / 2
    found = texts(b"".join(read))
    assert "".join(filter(None, found)) == "".join(f"w{n} " for n in range(40))
    assert b"".join(read).endswith(b'"finish_reason": "stop"}]}\n\n' + USAGE + b"\n\n" + DONE + b"\n\n")


def test_only_what_adds_text_is_joined() -> None:
    events = [delta("a"), delta("b"), delta("c", index=1), delta("d", finish_reason="length"), delta("e"), DONE]
    assert texts(joined(events)) == ["ab", "c", "d", "e"]
    tool = delta(None, delta={"content": "x", "tool_calls": [{"index": 0}]})
    chances = delta("y", logprobs={"content": []})
    assert joined([tool, tool, chances, chances]).split(b"\n\n")[:-1] == [tool, tool, chances, chances]
    assert joined([b": ping", delta("a"), b"event: x\ndata: {}", delta("b")]).count(b"\n\n") == 4


@pytest.mark.parametrize(
    "strange", [b"data: {", b"data: []", b'data: {"choices": 3}', b"\xff", b"", b'data: {"choices":[3]}']
)
def test_what_is_no_chat_completion_stays_as_it_is(strange: bytes) -> None:
    assert joined([strange, strange]) == (strange + b"\n\n") * 2


@given(
    st.lists(st.text(max_size=5), max_size=20),
    st.lists(st.integers(1, 60), min_size=1, max_size=30),
    st.sampled_from([b"\n\n", b"\r\n\r\n", b"\r\r"]),
)
def test_wherever_it_is_cut_it_says_the_same(words: list[str], cuts: list[int], end: bytes) -> None:
    sent = b"".join(event + end for event in [*map(delta, words), DONE]) + b"data: cut off"
    pieces, at = [], 0
    for size in cuts * 200:
        pieces.append(sent[at : at + size])
        at += size
    pieces.append(sent[at:])

    async def read() -> bytes:
        return b"".join([burst async for burst in in_bursts(arriving([piece for piece in pieces if piece]))])

    said = asyncio.run(read())
    assert "".join(texts(said)) == "".join(words)
    assert said.endswith(DONE + b"\n\ndata: cut off")


async def test_what_came_before_a_failure_is_read_first() -> None:
    async def breaking() -> AsyncIterator[bytes]:
        for n in range(30):
            yield delta(f"{n},") + b"\n\n"
        raise ConnectionError("gone")

    read = []
    with pytest.raises(ConnectionError, match="gone"):
        async for burst in in_bursts(breaking()):
            read.append(burst)  # the loop raises
    assert "".join(texts(b"".join(read))) == "".join(f"{n}," for n in range(30))


async def test_the_first_words_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "PAUSE", 60.0)
    stream = in_bursts(arriving([delta("a") + b"\n\n", delta("b") + b"\n\n", *[delta("c") + b"\n\n"] * 9], 0.01))
    async with asyncio.timeout(20):
        assert texts(await anext(stream)) == ["a"]
        assert texts(await anext(stream)) == ["b"]
        assert texts(await anext(stream)) == ["c"]
        # From here on whatever comes within the pause belongs together.
        assert texts(await anext(stream)) == ["c" * 8]
    assert PAUSE < 0.05


@pytest.mark.parametrize("cut", [0, 5, 11, 14])
async def test_after_the_last_event_nobody_reads_ahead(cut: int) -> None:
    asked = 0

    async def open_for_long() -> AsyncIterator[bytes]:
        nonlocal asked
        last = DONE + b"\n\n"
        for piece in [delta("a") + b"\n\n", last[:cut], last[cut:]]:
            asked += 1
            await asyncio.sleep(0.01)
            yield piece
        asked += 1
        await asyncio.sleep(60)

    stream = in_bursts(open_for_long())
    read = b""
    while DONE not in read:
        read += await anext(stream)
    await asyncio.sleep(0)
    assert asked <= 3
    await stream.aclose()


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
async def test_events_are_not_held_back_however_lines_end(end: bytes) -> None:
    stream = in_bursts(arriving([delta("a") + end, delta("b") + end, delta("c") + end], 0.01))
    async with asyncio.timeout(20):
        read = [texts(await anext(stream)) for _ in range(2)]
    assert sum(map(len, read)) >= 1
    assert "".join(text for found in read for text in found) in ("a", "ab")
    await stream.aclose()


async def test_what_always_has_more_to_say_is_looked_at() -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield delta("word ") + b"\n\n"

    stream = in_bursts(endless())
    async with asyncio.timeout(20):
        for _ in range(5):
            assert len(await anext(stream)) <= 2 * joining.LARGEST
    await stream.aclose()


@pytest.mark.parametrize("event", [b"data:[DONE]", b"data: [DONE]"])
def test_a_blank_after_the_colon_may_be_left_out(event: bytes) -> None:
    bare = [each.replace(b"data: ", b"data:") for each in (delta("a"), delta("b"))]
    assert texts(joined([*bare, event])) == ["ab"]


def test_what_servers_repeat_in_every_event_does_not_keep_them_apart() -> None:
    def frame(text: str, noise: str) -> bytes:
        choice = {"index": 0, "delta": {"role": "assistant", "content": text}}
        return b"data: " + json.dumps({"id": "c", "obfuscation": noise, "choices": [choice]}).encode()

    assert texts(joined([frame("a", "x"), frame("b", "xyz")])) == ["ab"]


async def test_a_reader_that_goes_leaves_nothing_running() -> None:
    closed = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                await asyncio.sleep(0.001)
                yield delta("x") + b"\n\n"
        finally:
            closed.set()

    source = endless()
    stream = in_bursts(source)
    await anext(stream)
    await stream.aclose()
    await source.aclose()  # type: ignore[attr-defined]
    assert closed.is_set()
    assert len(asyncio.all_tasks()) == 1
