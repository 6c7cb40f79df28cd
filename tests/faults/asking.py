"""Asks a server that is killed, reads on where it was cut off, and says what was lost."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx

from tests.graph.replies import DELAY, without_nonce
from tests.servers.calls import Request
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply

QUESTION = "Who built the Halden weir? My number is {}."
"""Different each time, so that no two of them are the same call."""

ANSWER = "Ida Marrow"
OF_ATTEMPT = 1_000_000
MODES = ["messages-tuple", "custom", "values"]

NEXT = {"condense": "rewrite", "rewrite": "retrieve", "create": "cite"}
"""By each step that asks the model, the one that begins when its result has been kept."""


def alone(request: Request) -> Reply:
    """Make a question stand alone that does already, as a model would."""
    return Reply(QUESTION.format(re.findall(r"My number is (\d+)", request.user)[-1]), delay=DELAY)


class Said(NamedTuple):
    """One event of a stream."""

    number: int
    name: str
    data: Any


@dataclass
class Asked:
    """One question of one conversation, and all that a reader saw of its run, through every kill."""

    thread: str
    run: str
    turn: int
    question: str
    seen: list[Said] = field(default_factory=list)
    cuts: int = 0

    @property
    def is_over(self) -> bool:
        return bool(self.seen) and self.seen[-1].name == "end"


async def ask(url: str, number: int, thread: str = "", turn: int = 1) -> Asked:
    """Ask in a new conversation, or go on with one; the server has accepted the run when this returns."""
    async with httpx.AsyncClient(base_url=url, timeout=120) as client:
        if not thread:
            thread = (await _posted(client, "/threads", {}))["thread_id"]
        question = QUESTION.format(number)
        body = {"input": {"question": question}, "stream_mode": MODES, "stream_subgraphs": True}
        run = await _posted(client, f"/threads/{thread}/runs", {"assistant_id": "answer", **body})
        return Asked(thread, run["run_id"], turn, question)


async def _posted(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> Any:
    reply = await client.post(path, json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def follow(asked: Asked, address: Callable[[], str]) -> None:
    """Read a run to its end, and come back to whoever serves now each time that the connection breaks."""
    while not asked.is_over:
        headers = {"Last-Event-ID": str(asked.seen[-1].number)} if asked.seen else {}
        path = f"/threads/{asked.thread}/runs/{asked.run}/stream"
        try:
            async with (
                httpx.AsyncClient(base_url=address(), timeout=300) as client,
                client.stream("GET", path, headers=headers) as reply,
            ):
                assert reply.status_code == 200, reply.status_code
                async for said in _events(reply):
                    asked.seen.append(said)
        except httpx.TransportError:
            pass
        if not asked.is_over:
            asked.cuts += 1
            await asyncio.sleep(0.2)


async def _events(reply: httpx.Response) -> AsyncIterator[Said]:
    fields: dict[str, str] = {}
    async for line in reply.aiter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "event" in fields:
            yield Said(int(fields["id"]), fields["event"], json.loads(fields["data"]))
            fields = {}
        else:
            fields = {}


def check_stream(asked: Asked) -> None:
    """See that nothing was sent twice or left out, and that the answer arrived."""
    numbers = [each.number for each in asked.seen]
    assert numbers == sorted(set(numbers)), f"twice, or out of order: {numbers}"
    for attempt, parts in attempts(asked.seen):
        counted = [part.number - attempt * OF_ATTEMPT for part in parts]
        assert counted == list(range(1, len(counted) + 1)), f"a gap in attempt {attempt}: {counted}"
    *_, (_, last) = attempts(asked.seen)
    assert last[0].name == "metadata", last[0]
    state = [part.data for part in asked.seen if part.name == "values"][-1]
    assert ANSWER in state["answer"], state["answer"]
    assert ANSWER in _text(asked.seen), f"what the reader has of the text is {_text(asked.seen)!r}"


def attempts(seen: Sequence[Said]) -> Iterator[tuple[int, list[Said]]]:
    """Yield what each attempt of a run said."""
    for attempt in sorted({each.number // OF_ATTEMPT for each in seen}):
        yield attempt, [each for each in seen if each.number // OF_ATTEMPT == attempt]


def _text(seen: Sequence[Said]) -> str:
    """Return the text as a client shows it: pieces of one message one after the other, and anew for another message."""
    text, message = "", None
    for part in seen:
        if part.name == "metadata":
            text, message = "", None
        elif part.name == "messages":
            piece = part.data[0]
            # A whole message has its text in blocks, and its sources with it.
            blocks = [{"text": piece["content"]}] if isinstance(piece["content"], str) else piece["content"]
            said = "".join(block.get("text", "") for block in blocks)
            text = said if piece["id"] != message or piece["type"] == "ai" else text + said
            message = piece["id"]
    return text


async def check_thread(url: str, asked: Asked) -> None:
    """See that a run succeeded, and that its conversation holds each question and each answer once."""
    async with httpx.AsyncClient(base_url=url, timeout=120) as client:
        run = (await client.get(f"/threads/{asked.thread}/runs/{asked.run}")).json()
        assert run["status"] == "success", run
        state = (await client.get(f"/threads/{asked.thread}/state")).json()
    assert ANSWER in state["values"]["answer"]
    spoken = [message["type"] for message in state["values"]["messages"]]
    assert spoken == ["human", "ai"] * asked.turn, spoken
    assert state["next"] == state["tasks"] == []


async def threads_at(url: str) -> set[str]:
    """Return the ids of all conversations."""
    async with httpx.AsyncClient(base_url=url, timeout=120) as client:
        return {each["thread_id"] for each in await _posted(client, "/threads/search", {"limit": 1000})}


def asked_again(stub: OpenAIStub, all_asked: Sequence[Asked]) -> tuple[int, list[str]]:
    """Return how many calls were answered more than once, and those of them whose step had been kept before that.

    Between a reply and the moment at which the step that asked for it is kept there is a while in which a kill loses
    it, and nothing can be done about that. That it was kept, the next step's beginning tells. A reply to a process that
    has just been killed counts as one as well.
    """
    times = Counter(without_nonce(call.request) for call in stub.calls if call.succeeded)
    again = {fingerprint for fingerprint, count in times.items() if count > 1}
    lost = []
    for call in {without_nonce(call.request): call for call in stub.calls}.values():
        if (fingerprint := without_nonce(call.request)) in again:
            step = fingerprint.split()[0]
            # The last of them: those before it in the conversation are in the prompt as well.
            asked = [each for each in all_asked if each.question in call.request.user][-1]
            *before, _ = attempts(asked.seen)
            if any(_began(parts, NEXT[step]) for _, parts in before):
                lost.append(f"{fingerprint}: {asked.question}")
    return len(again), lost


def _began(parts: Sequence[Said], step: str) -> bool:
    return any(
        part.name.startswith("custom") and part.data.get("step") == step and part.data.get("status") == "started"
        for part in parts
    )
