"""Runs over HTTP: what cannot be used is refused before anything is kept, and what nobody waits for is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import CorpusDamagedError, ModelError, SettingsError
from anabranch.safety.operator import environment
from anabranch_server.request_values import MAX_BODY, MAX_MESSAGES_CHARS
from plugins.server.tests.gate import ASKED, Served, gated

HALF = '"what is a leaf \\ud83d"'
"""A lone surrogate, as JSON can have it and no database, file or reply can."""


@pytest.fixture
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    async with gated(tmp_path / "data", monkeypatch) as found:
        yield found


async def refusal(of: Served, path: str, body: dict[str, Any] | str, status: int = 422) -> str:
    """Return what is said of a request that is refused."""
    sent: Any = {"content": body} if isinstance(body, str) else {"json": body}
    reply = await of.http.post(path, headers={"Content-Type": "application/json"}, **sent)
    assert reply.status_code == status, (body, reply.text)
    return str(reply.json()["detail"])


NO_MESSAGES: list[Any] = [
    [{"foo": 1}], [1], [None], None, 5, {}, [{"role": "user"}], [["user", "x", 3]], [{"role": "x", "content": "x"}],
    [{"role": "user", "content": {"a": 1}}], [{"role": "tool", "content": "x"}],
    [{"role": "function", "content": "x"}],
    [{"type": "remove", "id": "x", "content": ""}], [{"type": "remove", "id": "__remove_all__", "content": ""}],
]  # fmt: skip


async def test_messages_that_no_thread_can_take_in_are_refused_and_it_is_read_as_before(served: Served) -> None:
    served.gate.opened.set()
    for messages in NO_MESSAGES:
        thread = await served.thread()
        said = await refusal(served, f"/threads/{thread}/runs/wait", {"input": {"messages": messages}})
        assert "`messages`" in said, messages
        edited = {"values": {"messages": messages}, "as_node": "wait"}
        assert "`messages`" in await refusal(served, f"/threads/{thread}/state", edited), messages
        assert (await served.http.get(f"/threads/{thread}")).status_code == 200, messages
        assert (await served.http.post(f"/threads/{thread}/runs/wait", json=ASKED)).json()["answer"], messages


async def test_messages_in_short_are_taken(served: Served) -> None:
    served.gate.opened.set()
    for messages in ("hello", {"role": "user", "content": "x"}, [["user", "x"]]):
        thread = await served.thread()
        reply = await served.http.post(f"/threads/{thread}/runs/wait", json={"input": {"messages": messages}})
        assert [each["type"] for each in reply.json()["messages"]] == ["human"], messages


async def test_what_cannot_be_written_is_refused_and_the_threads_are_listed_as_before(served: Served) -> None:
    thread = await served.thread()
    of = f"/threads/{thread}"
    for path, body in (
        (f"{of}/runs/wait", f'{{"input": {{"question": {HALF}}}}}'),
        (f"{of}/runs/wait", f'{{"input": {{"question": "x"}}, "metadata": {{"a": {HALF}}}}}'),
        (f"{of}/runs/wait", f'{{"input": {{"question": "x"}}, "context": {{{HALF}: 1}}}}'),
        (f"{of}/runs/wait", f'{{"command": {{"resume": [{HALF}]}}}}'),
        (f"{of}/state", f'{{"values": {{"answer": {HALF}}}, "as_node": "wait"}}'),
        ("/threads", f'{{"metadata": {{"title": {HALF}}}}}'),
        ("/threads", f'{{"metadata": {{"deep": {"[" * 500}{"]" * 500}}}}}'),
        ("/threads", '{"metadata": {"size": NaN}}'),
        ("/threads/search", f'{{"metadata": {{"title": {HALF}}}}}'),
    ):
        assert "half of a character" in await refusal(served, path, body)
    content = f'{{"metadata": {{"title": {HALF}}}}}'
    assert (
        await served.http.patch(of, content=content, headers={"Content-Type": "application/json"})
    ).status_code == 422
    (listed,) = (await served.http.post("/threads/search", json={})).json()
    assert (listed["thread_id"], listed["metadata"]) == (thread, {})


async def test_a_long_conversation_has_a_bound(served: Served) -> None:
    served.gate.opened.set()
    long = [{"role": "user", "content": "x" * MAX_MESSAGES_CHARS}, {"role": "user", "content": "Who?"}]
    many = [{"role": "user", "content": "x"}] * 1_001
    for path, messages in (("/runs/wait", long), ("/runs/wait", many), ("/v1/chat/completions", long)):
        body = {"messages": messages, "input": {"messages": messages}}
        assert "characters" in await refusal(served, path, body)
    short = [{"role": "user", "content": "x" * (MAX_MESSAGES_CHARS // 2)}, long[1]]
    assert (await served.http.post("/runs/wait", json={"input": {"messages": short}})).status_code == 200


async def test_a_request_that_is_too_large_is_not_read(served: Served) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * MAX_BODY

    for path in ("/threads", "/runs/wait", "/v1/chat/completions", "/mcp", "/feedback"):
        told = {"Content-Length": str(MAX_BODY + 1), "Content-Type": "application/json"}
        assert (await served.http.post(path, content=b"{}", headers=told)).status_code == 413, path
        del told["Content-Length"]
        reply = await served.http.post(path, content=endless(), headers=told)
        assert reply.status_code == 413, path


async def test_files_have_a_bound_of_their_own(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", str(tmp_path / "root"))
    environment.cache_clear()
    sent = await served.http.post("/uploads", files=[("files", ("a.md", b"x" * (MAX_BODY + 1)))])
    assert sent.json()["names"] == ["a.md"]


CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "Who built the weir?"}]}
CALL = {"name": "ask", "arguments": {"question": "Who built the weir?"}}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/runs/stream", {**ASKED, "on_disconnect": "cancel"}),
        ("/runs/wait", {**ASKED, "on_disconnect": "cancel"}),
        ("/threads/{thread}/runs/stream", {**ASKED, "on_disconnect": "cancel"}),
        ("/threads/{thread}/runs/wait", {**ASKED, "on_disconnect": "cancel"}),
        ("/v1/chat/completions", CHAT),
        ("/v1/chat/completions", {**CHAT, "stream": True}),
        ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}),
    ],
)
async def test_a_question_that_nobody_waits_for_any_more_is_stopped(
    path: str, body: dict[str, Any], served: Served
) -> None:
    thread = await served.thread()
    await served.leave(path.format(thread=thread), body)
    await served.quiet()
    assert served.gate.stopped == 1
    statuses = [each["status"] for each in (await served.http.get(f"/threads/{thread}/runs")).json()]
    assert statuses == (["interrupted"] if "{thread}" in path else [])


@pytest.mark.parametrize("kind", ["stream", "wait"])
async def test_a_run_goes_on_without_a_reader_unless_told_not_to(kind: str, served: Served) -> None:
    thread = await served.thread()
    left = asyncio.create_task(served.leave(f"/threads/{thread}/runs/{kind}", ASKED))
    await served.gate.began.wait()
    await asyncio.sleep(0.05)
    served.gate.opened.set()
    await left
    await served.quiet()
    assert served.gate.stopped == 0
    (run,) = (await served.http.get(f"/threads/{thread}/runs")).json()
    assert run["status"] == "success"


async def test_stop_may_be_pressed_again_while_the_run_ends(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    run = (await served.http.post(f"/threads/{await served.thread()}/runs", json=ASKED)).json()
    place = f"/threads/{run['thread_id']}/runs/{run['run_id']}"
    finish = served.services.runs.finish

    async def noted(*given: Any, **more: Any) -> bool:
        again = asyncio.create_task(served.http.post(f"{place}/cancel"))
        assert (await asyncio.shield(again)).status_code == 204
        return await finish(*given, **more)

    monkeypatch.setattr(served.services.runs, "finish", noted)
    await served.gate.began.wait()
    async with asyncio.timeout(10):
        assert (await served.http.post(f"{place}/cancel", params={"wait": True})).status_code == 204
    assert (await served.http.get(place)).json()["status"] == "interrupted"


NOT_HERE: list[dict[str, Any]] = [
    {"command": {"goto": "wait"}}, {"command": {"resume": "yes", "update": {"answer": "x"}}}, {"command": {}},
    {"interrupt_before": ["wait"]}, {"interrupt_after": "*"}, {"after_seconds": 5}, {"webhook": "http://x.example"},
    {"multitask_strategy": "reject"}, {"multitask_strategy": "interrupt"}, {"on_completion": "keep"},
]  # fmt: skip


async def test_what_this_server_does_not_do_is_refused(served: Served) -> None:
    for asked in NOT_HERE:
        told = await refusal(served, f"/threads/{await served.thread()}/runs", {**ASKED, **asked})
        assert "this server" in told, asked
    fine: dict[str, Any] = {
        "multitask_strategy": "enqueue",
        "webhook": None,
        "interrupt_before": [],
        "durability": "sync",
    }
    accepted = await served.http.post(f"/threads/{await served.thread()}/runs", json={**ASKED, **fine})
    assert accepted.status_code == 200


async def asked_twice(served: Served) -> tuple[str, dict[str, Any]]:
    """Return a thread with two questions, and its checkpoint after the first one."""
    served.gate.opened.set()
    thread = await served.thread()
    for question in ("One?", "Two?"):
        body = {"input": {"messages": [{"role": "user", "content": question}]}}
        await served.http.post(f"/threads/{thread}/runs/wait", json=body)
    history = (await served.http.post(f"/threads/{thread}/history", json={"limit": 100})).json()
    ends = [each["checkpoint"] for each in history if not each["next"]]
    return thread, ends[-1]


def words(state: dict[str, Any]) -> list[str]:
    return [each["content"] for each in state["messages"]]


@pytest.mark.parametrize("whole", [True, False])
async def test_a_run_goes_on_from_the_checkpoint_it_names(whole: bool, served: Served) -> None:
    thread, first = await asked_twice(served)
    named = {"checkpoint": first} if whole else {"checkpoint_id": first["checkpoint_id"]}
    body = {"input": {"messages": [{"role": "user", "content": "Other?"}]}, **named}
    state = (await served.http.post(f"/threads/{thread}/runs/wait", json=body)).json()
    assert words(state) == ["One?", "Other?"]
    edit = {"values": {"answer": "edited"}, "as_node": "wait", **named}
    edited = (await served.http.post(f"/threads/{thread}/state", json=edit)).json()["checkpoint"]
    held = (await served.http.post(f"/threads/{thread}/state/checkpoint", json={"checkpoint": edited})).json()["values"]
    assert (words(held), held["answer"]) == (["One?"], "edited")
    before = (await served.http.post(f"/threads/{thread}/history", json={"before": first})).json()
    assert first["checkpoint_id"] not in [each["checkpoint"]["checkpoint_id"] for each in before]
    (at,) = (await served.http.post(f"/threads/{thread}/history", json={"limit": 1, **named})).json()
    assert at["checkpoint"]["checkpoint_id"] == first["checkpoint_id"]


async def test_an_unknown_checkpoint_is_not_found(served: Served) -> None:
    thread, first = await asked_twice(served)
    of, unknown = f"/threads/{thread}", {"checkpoint_id": "none"}
    await refusal(served, f"{of}/runs/wait", {**ASKED, **unknown}, 404)
    await refusal(served, "/runs/wait", {**ASKED, "checkpoint": first}, 404)
    await refusal(served, f"{of}/state", {"values": {"answer": "x"}, "as_node": "wait", "checkpoint": unknown}, 404)
    await refusal(served, f"{of}/history", {"before": unknown}, 404)
    await refusal(served, f"{of}/history", unknown, 404)
    assert (await served.http.get(f"{of}/state/none")).status_code == 404
    state = (await served.http.post(f"{of}/state/checkpoint", json={"checkpoint": None})).json()
    assert words(state["values"]) == ["One?", "Two?"]


async def test_a_run_without_a_thread_is_read_again_where_its_reply_says(served: Served) -> None:
    served.gate.opened.set()
    reply = await served.http.post("/runs/stream", json=ASKED)
    again = await served.http.get(reply.headers["location"])
    # Where it waits, a comment says so.
    assert (again.status_code, again.text) == (200, reply.text.replace(": waiting\n\n", ""))
    for number, status in (("9" * 5_000, 422), ("9" * 30, 422), ("9" * 18, 200), ("-1", 200)):
        found = await served.http.get(reply.headers["location"], headers={"Last-Event-ID": number})
        assert found.status_code == status


async def test_a_chat_program_is_told_whose_fault_it_is(served: Served) -> None:
    faults = ((SettingsError("x"), 422), (ModelError("x"), 503), (CorpusDamagedError("x"), 503), (KeyError("x"), 500))
    for fault, status in faults:
        served.gate.fault = fault
        reply = await served.http.post("/v1/chat/completions", json=CHAT)
        assert (reply.status_code, reply.json()["error"]["type"]) == (status, type(fault).__name__)


async def test_parts_without_words_are_no_words(served: Served) -> None:
    served.gate.opened.set()
    parts: list[dict[str, Any]] = [{"type": "text", "text": None}, {"type": "text", "text": {"a": 1}}, {"type": "text"}]
    body = {"messages": [{"role": "user", "content": [*parts, {"type": "text", "text": "Who?"}]}]}
    await served.http.post("/v1/chat/completions", json=body)
    assert served.gate.given == ["Who?"]
