"""The same prompt is asked once, streamed or not, also by a later server; what failed is asked again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from langchain_openai import ChatOpenAI
from openai import InternalServerError

from evals.synthesis.reply_cache import ReplyCache, chunks, key_of
from tests.servers.calls import Request
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import BROKEN, Reply

pytestmark = pytest.mark.loopback


@contextmanager
def cache(stub: OpenAIStub, file: Path) -> Iterator[ReplyCache]:
    with ReplyCache(stub.base_url, file) as server:
        server.start()
        yield server
        server.shutdown()


def client(server: ReplyCache, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(model="m", base_url=server.base_url, api_key="none", max_retries=0, temperature=0.0, **options)


def test_the_same_prompt_is_asked_once_whether_it_is_streamed_or_not(tmp_path: Path) -> None:
    with OpenAIStub("It was 1911.") as stub, cache(stub, tmp_path / "replies.jsonl") as server:
        whole = client(server).invoke("When?")
        streamed = "".join(chunk.text for chunk in client(server, stream_usage=True).stream("When?"))
        assert (whole.text, streamed) == ("It was 1911.", "It was 1911.")
        assert (len(stub.calls), server.asked, server.taken.calls) == (1, 1, 2)
        assert server.taken.output_tokens == 2 * whole.usage_metadata["output_tokens"] > 0
        client(server).invoke("Where?")
        client(server, max_completion_tokens=9).invoke("When?")
        assert len(stub.calls) == 3
        assert all(not call.request.stream for call in stub.calls)


def test_a_later_server_has_the_replies_and_a_line_that_was_cut_off_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    with OpenAIStub("It was 1911.") as stub:
        with cache(stub, file) as server:
            client(server).invoke("When?")
        with file.open("a", encoding="utf-8") as out:
            out.write('{"request": {"mess')
        with cache(stub, file) as server:
            assert client(server).invoke("When?").text == "It was 1911."
            assert (len(stub.calls), server.asked) == (1, 0)


def test_what_is_drawn_for_every_prompt_makes_no_other_prompt_and_is_in_the_reply_again(tmp_path: Path) -> None:
    with OpenAIStub(lambda request: Reply(request.user)) as stub, cache(stub, tmp_path / "replies.jsonl") as server:
        for nonce in ("5b1f0c9d2e7a4368", "0123456789abcdef"):
            prompt = f"<passages-{nonce}>The weir, 1911.</passages-{nonce}>"
            assert client(server).invoke(prompt).text == prompt
        assert len(stub.calls) == 1
        client(server).invoke("<passages-0123456789abcdef>The mill.</passages-0123456789abcdef>")
        assert len(stub.calls) == 2


def test_a_failure_is_passed_on_and_not_kept(tmp_path: Path) -> None:
    replies = iter([BROKEN, Reply("It was 1911.")])
    with OpenAIStub(lambda _: next(replies)) as stub, cache(stub, tmp_path / "replies.jsonl") as server:
        with pytest.raises(InternalServerError):
            client(server).invoke("When?")
        assert client(server).invoke("When?").text == "It was 1911."


def test_who_did_not_wait_finds_the_reply_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    answered = Event()

    def slowly(_: Request) -> Reply:
        answered.wait(30)
        return Reply("It was 1911. " * 100_000)  # more than a socket holds

    with OpenAIStub(slowly) as stub, cache(stub, tmp_path / "replies.jsonl") as server:
        body = {"messages": [{"role": "user", "content": "When?"}], "temperature": 0}
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{server.base_url}/chat/completions", json=body, timeout=0.2)
        answered.set()
        assert "1911" in httpx.post(f"{server.base_url}/chat/completions", json=body, timeout=30).text
        assert len(stub.calls) == 1
    assert "Traceback" not in capfd.readouterr().err


def test_what_is_no_chat_goes_through_and_a_server_that_is_gone_is_said(tmp_path: Path) -> None:
    with OpenAIStub() as stub:
        with cache(stub, tmp_path / "replies.jsonl") as server:
            assert httpx.get(f"{server.base_url}/models").json()["data"][0]["id"] == "stub"
        upstream = stub.base_url
    with ReplyCache(upstream, tmp_path / "replies.jsonl") as server:
        server.start()
        assert httpx.get(f"{server.base_url}/models").status_code == 502
        server.shutdown()


def test_what_decides_a_reply_is_in_its_key() -> None:
    request: dict[str, Any] = {"messages": [{"role": "user", "content": "When?"}], "temperature": 0, "max_tokens": 80}
    same = [
        {**request, "stream": True, "model": "other", "temperature": 0.0},
        {**request, "max_tokens": None, "max_completion_tokens": 80},
    ]
    other: list[dict[str, Any]] = [
        {**request, "temperature": 1}, {**request, "max_tokens": 81}, {**request, "stop": ["x"]},
        {**request, "response_format": {"type": "json_object"}}, {**request, "messages": []},
    ]  # fmt: skip
    assert {key_of(each) for each in same} == {key_of(request)}
    assert len({key_of(each) for each in [request, *other]}) == 6


def test_calls_of_tools_are_streamed_with_their_places() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    reply = {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": {}}
    first, last = chunks(json.loads(json.dumps(reply)), usage=False)
    assert first["choices"][0]["delta"]["tool_calls"] == [{"index": 0, **call}]
    assert last["choices"][0]["finish_reason"] == "tool_calls"
