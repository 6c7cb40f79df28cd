"""The chat model as a judge of passages: how many calls, what failures do."""

from __future__ import annotations

import threading
import time

import pytest

from anabranch.errors import MissingKeyError, ModelError
from anabranch.models.chat import ChatSettings, load_chat
from anabranch.models.rerankers import RerankerSettings
from anabranch.models.rerankers.llm_reranker import LLMReranker
from anabranch.models.usage import metered
from tests.graph.replies import passages_in
from tests.models.rerankers.judges import by_lines, relevance
from tests.servers import scripts
from tests.servers.calls import Request
from tests.servers.scripts import Reply, together

pytestmark = pytest.mark.loopback

TEXTS = [f"passage {n % 10}" for n in range(100)]


@pytest.mark.parametrize(
    ("batch", "count", "calls"), [(20, 1, 1), (20, 20, 1), (20, 21, 2), (20, 100, 5), (10, 30, 3), (10, 100, 10)]
)
async def test_llamaindex_r8_any_number_of_calls_is_one_round(batch: int, count: int, calls: int) -> None:
    # the peer sends one batch after the other
    scores, stub = await relevance(together(by_lines, calls), TEXTS[:count], batch=batch, concurrency=16)
    chat = await load_chat(ChatSettings("openai:stub", stub.base_url))
    planned = LLMReranker.from_settings(RerankerSettings(batch=batch, chat=chat)).chat_calls(count)
    assert len(stub.calls) == calls == planned
    assert stub.rounds() == 1
    assert [round(score or 0) for score in scores] == [n % 10 for n in range(count)]


async def test_calls_at_once_are_held_to_the_limit() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def slow(request: Request) -> Reply:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.2)
        with lock:
            running -= 1
        return by_lines(request)

    _, stub = await relevance(slow, TEXTS[:40], batch=10, concurrency=2)
    assert len(stub.calls) == 4
    assert most <= 2


async def test_blank_texts_are_not_sent_and_nothing_is_not_asked() -> None:
    scores, stub = await relevance(by_lines, ["a 3", "", "b 7", " \n"])
    assert [None if score is None else round(score) for score in scores] == [3, None, 7, None]
    assert list(passages_in(stub.calls[0].request).values()) == ["a 3", "b 7"]
    scores, stub = await relevance(by_lines, ["", " "])
    assert scores == [None, None]
    assert stub.calls == []


async def test_passages_are_shown_in_the_order_given() -> None:
    # RankGPT over a random order drops from 65.8 to 25.2 nDCG@10
    _, stub = await relevance(by_lines, ["c 1", "a 9", "b 5"])
    user = stub.calls[0].request.user
    assert user.index("c 1") < user.index("a 9") < user.index("b 5")


async def test_a_failing_server_is_an_error_and_a_wrong_key_is_said() -> None:
    with pytest.raises(ModelError):
        await relevance(scripts.BROKEN, ["a", "b"])
    with pytest.raises(MissingKeyError):
        await relevance(scripts.UNAUTHORISED, ["a", "b"])


@pytest.mark.parametrize("reply", ["no idea", "Doc: 0, Relevance: 9", "Doc: 99, Relevance: 9", "Relevance: high"])
async def test_an_unreadable_reply_is_an_error_and_no_order(reply: str) -> None:
    with pytest.raises(ModelError, match="judged none of 2 passages"):
        await relevance(reply, ["a", "b"])


@pytest.mark.parametrize("reply", ["None", "None of the passages helps.", '{"ranking": []}', "No relevant passages."])
async def test_that_nothing_helps_is_a_verdict(reply: str) -> None:
    scores, _ = await relevance(reply, ["a", "b"])
    assert scores == [0.0, 0.0]


async def test_repairs_are_counted() -> None:
    with metered() as meter:
        scores, _ = await relevance("Doc: 2, Relevance: 7\nDoc: 9, Relevance: 1\nDoc: 1, Relevance: ?", ["a", "b"])
    assert scores[1] == 7.0
    assert meter.repairs == 2
    assert meter.calls == 1
