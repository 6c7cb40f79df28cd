"""Streams read as JSON, beside the same bytes read by langchain-openai alone."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import pairwise
from typing import Any
from uuid import UUID

import httpx
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_openai import ChatOpenAI
from openai.resources.chat import AsyncCompletions
from openai.types.chat import ChatCompletionChunk

from anabranch.models.chunk_stream import ChunkCompletions
from anabranch.models.providers import ChatSettings, new_client

RUN = UUID(int=7)
SETTINGS = ("openai:gpt-5-mini", None), ("openai:m", "http://127.0.0.1:1/v1"), ("qwen2.5:7b", "http://127.0.0.1:1/v1")

LOGPROB = {"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}
CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "look", "arguments": ""}}
USAGE: dict[str, Any] = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
DETAILS = {"completion_tokens_details": {"reasoning_tokens": 3}, "prompt_tokens_details": {"cached_tokens": 2}}


def chunk(delta: object, finish_reason: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


def choice(**fields: Any) -> dict[str, Any]:
    return chunk({}) | {"choices": [fields]}


# What servers send: OpenAI, DeepSeek, vLLM, OpenRouter, llama.cpp, Azure behind gateways.
CHUNKS: Sequence[Any] = (
    chunk({"role": "assistant", "content": "", "refusal": None}),
    chunk({"content": "Ünter \U0001f985 日本"}, obfuscation="xyz"),
    chunk({"content": "\n\n"}, usage=None, system_fingerprint="fp"),
    chunk({"reasoning_content": "hm", "content": None}),
    chunk({"reasoning": "hm", "content": "", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}),
    chunk({"refusal": "I cannot"}),
    chunk({"tool_calls": [CALL]}),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"a": 1}'}}]}),
    chunk({"tool_calls": [{"index": 1, "id": "call_2"}]}),
    chunk({"tool_calls": None, "function_call": {"name": None, "arguments": "{}"}}),
    chunk({"content": "a"}, usage=USAGE),
    chunk({"content": "a", "id": "d-1", "role": "user"}),
    chunk({"content": ["a"]}),
    chunk({}, "stop", service_tier="flex", system_fingerprint="fp"),
    chunk({}, "length", timings={"predicted_n": 4}),
    chunk({"content": ""}, "content_filter", content_filter_results={"hate": {"filtered": True}}),
    chunk({}, "eos"),
    chunk(None),
    chunk({"content": "x"}) | {"choices": None},
    chunk({}) | {"choices": []},
    chunk({}, usage=USAGE | DETAILS, service_tier="priority") | {"choices": []},
    chunk({}, usage={"prompt_tokens": "9"}) | {"choices": []},
    chunk({}, x_groq={"id": "r", "usage": USAGE}),
    choice(index=0, delta={"content": "a"}, logprobs={"content": [LOGPROB]}),
    choice(index=0, delta={"content": "a"}, logprobs={"content": None, "refusal": None}),
    choice(index=0, finish_reason="stop"),
    choice(index=0, message={"content": "a"}),
    chunk({}) | {"choices": [{"index": i, "delta": {"content": "ab"[i]}} for i in range(2)]},
    {"error": {"message": "overloaded", "code": 502}},
    {"error": "overloaded"},
    {"error": None, **chunk({"content": "b"})},
    {"type": "content.delta", **chunk({"content": "b"})},
    {"object": "error", "message": "no"},
    {},
    [],
    None,
    7,
)
ODD = (b": keep-alive\n\n", b"event: ping\ndata: {}\n\n", b"\n", b"id: 1\nretry: 5\n\n", b"data: {\n\n", b"data\n\n")
ERROR = b'event: error\ndata: {"error": {"message": "gone", "type": "server_error"}}\n\n'

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "é", "stop", "\ud83d", "user"])


def fields_of(value: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    names = "id role content refusal tool_calls function_call index function name arguments audio reasoning"
    return st.dictionaries(st.sampled_from(names.split()), value, max_size=4)


values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=2) | fields_of(inner), max_leaves=4)


@st.composite
def changed(draw: st.DrawFn) -> dict[str, Any]:
    """A chunk with other values, of whatever type, somewhere."""
    known = json.loads(json.dumps(draw(st.sampled_from([each for each in CHUNKS if isinstance(each, dict)]))))
    places = [known, *_inside(known)]
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.sampled_from(places))
        name = draw(st.sampled_from([*place, "content", "delta", "logprobs", "usage", "finish_reason", "role"]))
        place[name] = draw(values)
    return dict(known)


def _inside(known: Any) -> Iterator[dict[str, Any]]:
    for value in known.values() if isinstance(known, dict) else known if isinstance(known, list) else ():
        if isinstance(value, dict):
            yield value
        yield from _inside(value)


@st.composite
def events(draw: st.DrawFn) -> bytes:
    """One event, in one of the ways in which it may be spelt."""
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = json.dumps(draw(st.sampled_from(CHUNKS) | changed()), ensure_ascii=draw(st.booleans()), indent=None)
    lines = json.dumps(json.loads(text), indent=0).split("\n") if draw(st.integers(0, 9)) == 0 else [text]
    field = draw(st.sampled_from(["data: ", "data:"]))
    return "".join(f"{field}{line}{end}" for line in lines).encode("utf-8", "replace") + end.encode()


frames = st.one_of(*[events()] * 6, st.sampled_from([*ODD, ERROR, b"data: [DONE]\n\n"]))
breaks = st.sampled_from([None, None, httpx.ReadError, httpx.ReadTimeout, httpx.RemoteProtocolError])


class Body(httpx.AsyncByteStream):
    """The packets of a reply, and how it breaks off."""

    def __init__(self, packets: Sequence[bytes], broken: type[httpx.TransportError] | None = None) -> None:
        self.packets, self.broken = packets, broken

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for packet in self.packets:
            yield packet
        if self.broken:
            raise self.broken("so it ends")


class Heard(AsyncCallbackHandler):
    """What a tracer is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    async def on_chat_model_start(self, serialized: Any, messages: Any, *, tags: Any, **_: Any) -> None:
        self.told.append((serialized, messages, tags))

    async def on_llm_new_token(self, token: Any, *, chunk: Any, tags: Any, **more: Any) -> None:
        self.told.append((token, chunk.model_dump(), tags, more.get("logprobs")))

    async def on_llm_end(self, response: Any, **_: Any) -> None:
        self.told.append(response.model_dump())

    async def on_llm_error(self, error: BaseException, **_: Any) -> None:
        self.told.append(said(error))


def said(error: BaseException) -> tuple[Any, ...]:
    return type(error), str(error), getattr(error, "body", None), type(error.__cause__)


async def outcome(body: Body, *, ours: bool, status: int = 200, **options: Any) -> tuple[Any, ...]:
    """Return all that a caller and a tracer see of a streamed call, and the request."""
    sent: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append((str(request.url), json.loads(request.content), dict(request.headers)))
        return httpx.Response(status, headers={"content-type": "text/event-stream"}, stream=body)

    heard, read, merged, error = Heard(), [], None, None
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        client = ChatOpenAI(
            model="m", api_key="k", base_url="http://m.test/v1", http_async_client=http, max_retries=0, **options
        )
        if ours:
            client = client.model_copy(update={"async_client": ChunkCompletions(client.root_async_client)})
        try:
            config = {"callbacks": [heard], "run_id": RUN, "tags": ["nostream"]}
            async for message in client.astream([("system", "s"), ("user", "u")], config, max_tokens=9):
                read.append(message)
            merged = sum(read[1:], read[0]).model_dump()
        except Exception as raised:
            error = said(raised)
    return [each.model_dump() for each in read], merged, error, heard.told, sent


def packets_of(body: bytes, cuts: Sequence[int]) -> list[bytes]:
    at = sorted({0, len(body), *(cut % (len(body) + 1) for cut in cuts)})
    return [body[a:b] for a, b in pairwise(at)]


@settings(max_examples=150, deadline=None)
@given(
    sent=st.lists(frames, max_size=6).map(b"".join),
    cuts=st.lists(st.integers(0, 5_000), max_size=8),
    broken=breaks,
    status=st.sampled_from([200] * 9 + [400, 401, 404, 429, 500]),
    usage=st.booleans(),
)
def test_every_stream_reads_as_it_does_without(
    sent: bytes, cuts: list[int], broken: type[httpx.TransportError] | None, status: int, usage: bool
) -> None:
    async def both() -> list[Any]:
        bodies = Body(packets_of(sent, cuts), broken), Body([sent], broken)
        return [
            await outcome(body, ours=ours, status=status, stream_usage=usage)
            for ours, body in zip((True, False), bodies, strict=True)
        ]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pydantic's, of fields with a type that nobody expects
        mine, theirs = asyncio.run(both())
    assert mine == theirs


@pytest.mark.parametrize("known", CHUNKS)
async def test_each_kind_of_chunk_reads_as_it_does_without(known: Any) -> None:
    body = b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in (CHUNKS[1], known, CHUNKS[2]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the SDK's, of a field with a type that it does not expect
        mine, theirs = [await outcome(Body([body]), ours=ours) for ours in (True, False)]
    assert mine == theirs
    assert mine[0][0]["content"] == "Ünter \U0001f985 日本"


async def test_a_whole_answer_is_read_and_only_what_is_nested_takes_the_long_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Any] = []
    construct = ChatCompletionChunk.construct

    def counted(**values: Any) -> ChatCompletionChunk:
        made.append(values)
        return construct(**values)

    monkeypatch.setattr(ChatCompletionChunk, "construct", counted)
    usage = chunk({}, usage=USAGE | DETAILS) | {"choices": []}
    sent = [CHUNKS[0], *[chunk({"content": f"{n} "}) for n in range(50)], chunk({}, "stop"), usage]
    body = b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in sent) + b"data: [DONE]\n\n"
    chunks, merged, error, told, _ = await outcome(Body([body]), ours=True, stream_usage=True)
    assert made == [usage]
    assert error is None
    assert merged["content"] == "".join(f"{n} " for n in range(50))
    assert merged["response_metadata"] == {"finish_reason": "stop", "model_name": "m", "model_provider": "openai"}
    assert merged["usage_metadata"]["output_token_details"] == {"reasoning": 3}
    # One call for each chunk that is read, with the tag that LangGraph goes by; one more at the start and at the end.
    assert [each[2] for each in told[1:-1]] == [["nostream"]] * len(chunks)


async def test_who_instruments_the_sdk_is_shown_its_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    create = AsyncCompletions.create

    class Watched(openai.AsyncStream[Any]):
        async def __aiter__(self) -> AsyncIterator[Any]:
            async for each in super().__aiter__():
                shown.append(each)
                yield each

    async def watched(self: AsyncCompletions, **payload: Any) -> Any:
        stream: Any = await create(self, **payload)
        return Watched(cast_to=ChatCompletionChunk, response=stream.response, client=self._client)

    monkeypatch.setattr(AsyncCompletions, "create", watched)
    body = Body([b"data: %s\n\n" % json.dumps(CHUNKS[1]).encode()])
    _, merged, *_ = await outcome(body, ours=True)
    assert merged["content"] == "Ünter \U0001f985 日本"
    assert [type(each) for each in shown] == [ChatCompletionChunk]


async def test_an_unstreamed_call_is_the_sdks() -> None:
    reply = chunk({}) | {"object": "chat.completion", "choices": [{"index": 0, "message": {"content": "whole"}}]}

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=reply)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        sdk = openai.AsyncOpenAI(api_key="k", base_url="http://m.test/v1", http_client=http)
        found: Any = await ChunkCompletions(sdk).create(model="m", messages=[])
    assert found.choices[0].message.content == "whole"


@pytest.mark.parametrize(("model", "base_url"), SETTINGS)
def test_clients_of_openais_protocol_read_so(model: str, base_url: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x" * 20)
    client: Any = new_client(ChatSettings(model, base_url))[0]
    assert isinstance(client.async_client, ChunkCompletions)


def test_azures_client_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "http://a.test")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "x" * 20)
    client: Any = new_client(ChatSettings("azure_openai:m", model_kwargs='{"api_version": "2024-10-21"}'))[0]
    assert not isinstance(client.async_client, ChunkCompletions)
