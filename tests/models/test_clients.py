"""Clients are kept per event loop, a bounded number of them, made once, and closed when nobody uses them any longer."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any
from weakref import ref

import pytest

from anabranch.errors import MissingKeyError
from anabranch.models import embedders
from anabranch.models.chat import ChatSettings, load_chat
from anabranch.models.clients import MOST, Clients
from anabranch.models.rerankers.cohere import CohereReranker
from tests.servers.cohere_stub import CohereStub
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply


class Pool:
    """What a client holds on to."""

    def __init__(self) -> None:
        self.closed = threading.Event()

    async def aclose(self) -> None:
        self.closed.set()


class Client:
    """What is kept."""

    def __init__(self, key: int) -> None:
        self.key = key
        self.pool = Pool()


def _clients(most: int = 2) -> Clients[int, Client]:
    return Clients(Client, lambda client: client.pool, most)


async def test_the_last_ones_are_kept_and_the_others_closed() -> None:
    clients = _clients()
    first = await clients.get(1)
    pool = first.pool
    assert await clients.get(1) is first
    del first
    for key in (2, 3):
        await clients.get(key)
    await asyncio.sleep(0.01)
    assert pool.closed.is_set()
    assert not (await clients.get(3)).pool.closed.is_set()
    assert not (await clients.get(2)).pool.closed.is_set()


async def test_one_that_is_in_use_is_closed_only_afterwards() -> None:
    clients = _clients()
    used = await clients.get(1)
    pool = used.pool
    for key in range(2, 9):
        await clients.get(key)
    await asyncio.sleep(0.01)
    assert not pool.closed.is_set()
    del used
    await asyncio.sleep(0.01)
    assert pool.closed.is_set()


async def test_two_who_come_first_together_get_one() -> None:
    made: list[int] = []
    both = threading.Event()

    def make(key: int) -> Client:
        both.wait(10)
        made.append(key)
        return Client(key)

    clients = Clients(make, lambda client: client.pool, 2)
    waiting = [asyncio.create_task(clients.get(1)) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()  # who gives up takes nothing from the others
    both.set()
    _, *found = await asyncio.gather(*waiting, return_exceptions=True)
    assert made == [1]
    assert found[0] is found[1]


async def test_one_that_cannot_be_made_is_tried_anew() -> None:
    failures = [OSError("not yet")]

    def make(key: int) -> Client:
        if failures:
            raise failures.pop()
        return Client(key)

    clients = Clients(make, lambda client: client.pool, 2)
    with pytest.raises(OSError, match="not yet"):
        await clients.get(1)
    assert (await clients.get(1)).key == 1


def test_two_loops_have_clients_of_their_own_and_those_of_a_closed_one_are_let_go() -> None:
    clients = _clients()

    async def one() -> Client:
        return await clients.get(1)

    first, second = asyncio.run(one()), asyncio.run(one())
    assert first is not second
    gone = ref(first)
    del first
    asyncio.run(one())
    gc.collect()
    assert gone() is None


@pytest.mark.loopback
async def test_chat_clients_have_a_bound_and_their_pools_are_closed() -> None:
    with OpenAIStub("x") as stub:
        first = await load_chat(ChatSettings("openai:stub", stub.base_url, model_kwargs='{"seed": 0}'))
        await first.ask("s", "u", max_tokens=10)
        client: Any = first._client
        pool = client.http_async_client
        del first, client
        for number in range(1, MOST + 1):
            await load_chat(ChatSettings("openai:stub", stub.base_url, model_kwargs=f'{{"seed": {number}}}'))
        await asyncio.sleep(0.01)
        assert pool.is_closed
        last = await load_chat(ChatSettings("openai:stub", stub.base_url, model_kwargs='{"seed": 1}'))
        assert await last.ask("s", "u", max_tokens=10) == "x"


async def test_two_first_calls_at_once_make_one_chat_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x" * 20)
    settings = ChatSettings("openai:gpt-5-mini", model_kwargs='{"seed": 123}')
    one, other = await asyncio.gather(load_chat(settings), load_chat(settings))
    assert one is other


async def test_a_key_that_is_set_later_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = ChatSettings("openai:gpt-5-mini", model_kwargs='{"seed": 321}')
    with pytest.raises(MissingKeyError):
        await load_chat(settings)
    monkeypatch.setenv("OPENAI_API_KEY", "x" * 20)
    assert (await load_chat(settings)).settings == settings


@pytest.mark.loopback
async def test_cohere_clients_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    made: list[httpx.AsyncClient] = []
    real = httpx.AsyncClient.__init__

    def counted(self: httpx.AsyncClient, *args: Any, **options: Any) -> None:
        real(self, *args, **options)
        made.append(self)

    monkeypatch.setenv("CO_API_KEY", "x" * 20)
    monkeypatch.setattr(httpx.AsyncClient, "__init__", counted)
    with CohereStub(Reply("")) as stub:
        for number in range(MOST + 3):
            reranker = CohereReranker(base_url=stub.base_url, timeout=30.0 + number, retries=0)
            assert (await reranker.relevance("a", ["a b"])) == [1.0]
    gc.collect()
    await asyncio.sleep(0.01)
    assert len(made) == MOST + 3
    assert sum(not client.is_closed for client in made) == MOST


def test_embedders_have_a_bound() -> None:
    held = [embedders.load_embedder("openai:m", f"http://127.0.0.1:9/{n}") for n in range(embedders.KEPT + 3)]
    assert len(embedders._loaded) == embedders.KEPT
    assert embedders.load_embedder("openai:m", f"http://127.0.0.1:9/{embedders.KEPT + 2}") is held[-1]
