"""The OpenAI stub as OpenAI's own client and LangChain see it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import openai
import pytest
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from tests.servers import scripts
from tests.servers.calls import CallLog, Request, read_log
from tests.servers.openai_stub import DIMENSION, OpenAIStub, embed
from tests.servers.scripts import Reply

pytestmark = pytest.mark.loopback

REPOSITORY = Path(__file__).resolve().parents[2]
TEXT = "One  two\nthree, naïve ☃.\n"


@asynccontextmanager
async def client_of(base_url: str, *, timeout: float = 60.0, retries: int = 0) -> AsyncIterator[openai.AsyncOpenAI]:
    http = openai.DefaultAsyncHttpxClient(verify=False)  # reading the certificates takes longer than a test
    async with openai.AsyncOpenAI(
        base_url=base_url, api_key="key", timeout=timeout, max_retries=retries, http_client=http
    ) as client:
        yield client


async def ask(client: openai.AsyncOpenAI, text: str = TEXT) -> str | None:
    reply = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    return reply.choices[0].message.content


async def stream(client: openai.AsyncOpenAI, text: str = TEXT, **options: object) -> list:
    messages = [{"role": "user", "content": text}]
    return [
        chunk
        async for chunk in await client.chat.completions.create(model="m", messages=messages, stream=True, **options)
    ]


def text_of(chunks: list) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


async def test_a_reply_comes_back_whole_with_its_usage() -> None:
    with OpenAIStub() as stub:
        async with client_of(stub.base_url) as client:
            messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": TEXT}]
            reply = await client.chat.completions.create(model="some-model", messages=messages)
    assert reply.choices[0].message.content == TEXT
    assert reply.model == "some-model"
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.total_tokens) == (7, 5, 12)
    [call] = stub.calls
    assert (call.request.kind, call.request.number, call.status) == ("chat", 1, 200)
    assert call.request.headers["authorization"] == "Bearer key"
    assert call.request.started <= call.finished <= call.ended


async def test_a_stream_comes_word_by_word_and_its_usage_when_asked() -> None:
    with OpenAIStub() as stub:
        async with client_of(stub.base_url) as client:
            plain = await stream(client)
            counted = await stream(client, stream_options={"include_usage": True})
            empty = await stream(client, " ")
    assert text_of(plain) == text_of(counted) == TEXT
    assert sum(1 for chunk in plain if chunk.choices[0].delta.content) == 5
    assert plain[-1].choices[0].finish_reason == "stop"
    assert all(chunk.usage is None for chunk in plain)
    assert (counted[-1].choices, counted[-1].usage.total_tokens) == ([], 10)
    assert text_of(empty) == " "
    assert stub.unfinished == []


async def test_langchain_reads_both_ways() -> None:
    with OpenAIStub(scripts.route({"You echo": scripts.echo})) as stub:
        async with openai.DefaultAsyncHttpxClient(verify=False) as http:
            model = ChatOpenAI(
                base_url=stub.base_url, api_key="key", model="m", http_async_client=http, stream_usage=True
            )
            said = [("system", "You echo."), ("user", TEXT)]
            whole = await model.ainvoke(said)
            pieces = [piece async for piece in model.astream(said)]
    assert whole.content == "".join(piece.content for piece in pieces) == TEXT
    assert whole.usage_metadata["total_tokens"] == 12
    assert sum(piece.usage_metadata["total_tokens"] for piece in pieces if piece.usage_metadata) == 12


def test_event_loops_one_after_another_may_share_a_client() -> None:
    with OpenAIStub() as stub:
        model = ChatOpenAI(base_url=stub.base_url, api_key="key", model="m")
        assert [asyncio.run(model.ainvoke(text)).content for text in "abc"] == ["a", "b", "c"]


async def test_forty_parallel_calls_are_one_round_and_five_in_a_chain_are_five() -> None:
    with OpenAIStub(scripts.together(scripts.echo, 40)) as stub:
        async with client_of(stub.base_url) as client:
            texts = [f"question {number}" for number in range(40)]
            assert await asyncio.gather(*(ask(client, text) for text in texts)) == texts
    assert stub.rounds() == 1
    assert len(stub.calls) == len({call.request.number for call in stub.calls}) == 40
    assert stub.repeated() == []
    with OpenAIStub() as stub:
        async with client_of(stub.base_url) as client:
            for text in "abcde":
                assert await ask(client, text) == text
                assert stub.calls[-1].finished is not None
    assert stub.rounds() == 5


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (scripts.UNAUTHORISED, openai.AuthenticationError),
        (scripts.MISSING_MODEL, openai.NotFoundError),
        (scripts.rate_limited(7), openai.RateLimitError),
        (scripts.BROKEN, openai.InternalServerError),
        (Reply("overloaded", status=529), openai.InternalServerError),
    ],
)
@pytest.mark.parametrize("read", [ask, stream])
async def test_an_error_reaches_the_client_with_its_words(reply: Reply, error: type, read) -> None:
    with OpenAIStub(reply) as stub:
        async with client_of(stub.base_url) as client:
            with pytest.raises(error, match=reply.text) as raised:
                await read(client)
    assert raised.value.status_code == reply.status
    assert reply.headers.items() <= {("Retry-After", raised.value.response.headers.get("retry-after"))}
    assert [(call.status, call.finished is not None, call.succeeded) for call in stub.calls] == [
        (reply.status, True, False)
    ]


async def test_a_client_that_retries_is_seen_each_time_and_waits_as_told() -> None:
    with OpenAIStub(scripts.in_turn(scripts.rate_limited(0.2), "done")) as stub:
        async with client_of(stub.base_url, retries=2) as client:
            assert await ask(client) == "done"
    first, second = stub.calls
    assert second.request.started - first.finished >= 0.2
    assert stub.repeated() == []


async def test_nonsense_and_a_reply_without_choices() -> None:
    with OpenAIStub(scripts.in_turn(scripts.NONSENSE, Reply(raw=b"{"), scripts.no_choices, scripts.no_choices)) as stub:
        async with client_of(stub.base_url) as client:
            page = await client.chat.completions.with_raw_response.create(
                model="m", messages=[{"role": "user", "content": "q"}]
            )
            assert page.text.startswith("<html>")
            assert page.headers["content-type"] == "text/html"
            with pytest.raises(ValueError, match="Expecting property name"):
                await ask(client)
            with pytest.raises(IndexError):
                await ask(client)
            assert [chunk.choices for chunk in await stream(client)] == [[]]


@pytest.mark.parametrize("read", [ask, stream])
async def test_a_server_that_never_answers_is_given_up_and_seen_unfinished(read) -> None:
    with OpenAIStub(scripts.SILENT) as stub:
        async with client_of(stub.base_url, timeout=0.2) as client:
            with pytest.raises(openai.APITimeoutError):
                await read(client)
        stub.wait_until(lambda calls: calls[0].ended is not None)
    assert [call.status for call in stub.unfinished] == [None]


@pytest.mark.parametrize("read", [ask, stream])
async def test_a_drip_outlives_the_read_timeout(read) -> None:
    with OpenAIStub(scripts.DRIP) as stub:
        async with client_of(stub.base_url, timeout=3.0) as client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(read(client), 4.0)
        stub.wait_until(lambda calls: calls[0].ended is not None)
    assert stub.calls == stub.unfinished


async def test_a_stream_that_stalls_after_its_first_word() -> None:
    with OpenAIStub(Reply("one two", chunk_delay=60)) as stub:
        async with client_of(stub.base_url, timeout=0.2) as client:
            with pytest.raises(openai.APITimeoutError):
                await stream(client)
    assert stub.calls == stub.unfinished


async def test_a_cut_connection() -> None:
    with OpenAIStub(Reply("one two three four", cut=True)) as stub:
        async with client_of(stub.base_url) as client:
            with pytest.raises(openai.APIConnectionError):
                await ask(client)
            pieces = []
            with pytest.raises(openai.APIConnectionError):
                async for chunk in await client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": "q"}], stream=True
                ):
                    pieces.append(chunk)
    assert text_of(pieces) == "one two "
    assert all(chunk.choices[0].finish_reason is None for chunk in pieces)
    assert stub.calls == stub.unfinished


async def test_a_late_reply_to_a_client_that_has_gone_is_not_finished() -> None:
    with OpenAIStub(Reply("late", delay=60)) as stub:
        async with client_of(stub.base_url, timeout=0.2) as client:
            with pytest.raises(openai.APITimeoutError):
                await ask(client)
            with pytest.raises(openai.APITimeoutError):
                await ask(client)
        stub.wait_until(lambda calls: all(call.ended for call in calls))
    assert len(stub.unfinished) == 2
    assert stub.repeated() == []


async def test_leaving_ends_calls_that_hang() -> None:
    with OpenAIStub(scripts.SILENT) as stub:
        async with client_of(stub.base_url) as client:
            waiting = asyncio.create_task(ask(client))
            await asyncio.to_thread(stub.wait_until, lambda calls: len(calls) == 1)
            await asyncio.to_thread(stub.__exit__, None)
            assert stub.calls[0].ended is not None
            with pytest.raises(openai.APIConnectionError):
                await waiting


async def test_a_script_that_raises_fails_the_test_and_is_not_retried() -> None:
    stub = OpenAIStub(scripts.route({}))
    with pytest.raises(LookupError, match="no script"), stub:
        async with client_of(stub.base_url, retries=2) as client:
            with pytest.raises(openai.BadRequestError, match="LookupError"):
                await ask(client)
    assert len(stub.calls) == 1


async def test_models_and_unknown_paths() -> None:
    with OpenAIStub() as stub:
        async with client_of(stub.base_url) as client:
            assert [model.id for model in (await client.models.list()).data] == ["stub"]
            with pytest.raises(openai.NotFoundError, match="no such path"):
                await client.completions.create(model="m", prompt="q")
    assert stub.calls == []


async def test_embeddings_are_unit_vectors_in_both_encodings_and_near_for_shared_words() -> None:
    texts = ["the river joins the sea", "the sea and the river", "compile the kernel", "..."]
    with OpenAIStub() as stub:
        async with client_of(stub.base_url) as client:
            packed = await client.embeddings.create(model="e", input=texts)
            plain = await client.embeddings.create(model="e", input=texts, encoding_format="float")
            small = await client.embeddings.create(model="e", input=texts[0], dimensions=8)
    vectors = np.array([each.embedding for each in packed.data])
    np.testing.assert_array_equal(vectors, np.array([each.embedding for each in plain.data]))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert vectors.shape == (4, DIMENSION)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    np.testing.assert_allclose(small.data[0].embedding, embed(texts[0], 8))
    assert [call.request.kind for call in stub.calls] == ["embedding"] * 3


async def test_langchain_embeds() -> None:
    with OpenAIStub() as stub:
        async with openai.DefaultAsyncHttpxClient(verify=False) as http:
            model = OpenAIEmbeddings(
                base_url=stub.base_url, api_key="key", check_embedding_ctx_length=False, http_async_client=http
            )
            vectors = await model.aembed_documents(["a river", "a sea"])
    np.testing.assert_allclose(vectors, [embed("a river"), embed("a sea")], rtol=1e-6)


@pytest.mark.parametrize("given", [[], "", ["text", ""]])
async def test_embedding_nothing_is_a_bad_request(given: list[str] | str) -> None:
    with OpenAIStub() as stub:
        async with client_of(stub.base_url) as client:
            with pytest.raises(openai.BadRequestError, match="invalid input"):
                await client.embeddings.create(model="e", input=given)


async def test_embedding_calls_have_a_script_of_their_own() -> None:
    with OpenAIStub(embedding=scripts.in_turn(scripts.UNAUTHORISED, "")) as stub:
        async with client_of(stub.base_url) as client:
            with pytest.raises(openai.AuthenticationError):
                await client.embeddings.create(model="e", input="text")
            assert await ask(client) == TEXT
            assert len((await client.embeddings.create(model="e", input=[1, 2, 3])).data) == 1


@pytest.fixture
def process(tmp_path: Path) -> Iterator[tuple[str, CallLog]]:
    """A stub in a process of its own: its base url, and its log's file."""
    log = tmp_path / "calls.jsonl"
    options = ["--port", "0", "--script", "tests.servers.scripts:echo", "--log", str(log)]
    command = [sys.executable, "-m", "tests.servers.openai_stub", *options]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().strip(), log
        server.kill()


CLIENT = """
import sys, openai
client = openai.OpenAI(base_url=sys.argv[1], api_key="key")
for text in sys.argv[2:]:
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
"""


async def test_a_process_of_its_own_keeps_a_log_that_shows_repeats(process) -> None:
    base_url, path = process
    async with client_of(base_url) as client:
        for text in ("a", "b", "a"):
            assert await ask(client, text) == text
    log = read_log(path)
    assert [call.request.user for call in log.calls] == ["a", "b", "a"]
    assert (log.rounds(), log.unfinished, len(log.repeated())) == (3, [], 1)


def test_a_client_killed_in_a_call_leaves_that_call_unfinished() -> None:
    def slow_at_b(request: Request) -> Reply:
        return Reply(request.user, delay=60 if request.user == "b" else 0)

    with OpenAIStub(slow_at_b) as stub:
        with subprocess.Popen([sys.executable, "-c", CLIENT, stub.base_url, "a", "b"]) as child:
            stub.wait_until(lambda calls: len(calls) == 2)
            os.kill(child.pid, signal.SIGKILL)
        stub.wait_until(lambda calls: calls[1].ended is not None)
    assert [call.succeeded for call in stub.calls] == [True, False]
    assert stub.repeated() == []
