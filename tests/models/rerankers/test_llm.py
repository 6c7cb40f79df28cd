"""The chat model as a judge of passages."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch.errors import MissingKeyError, ModelError
from anabranch.models.chat import ChatSettings, load_chat
from anabranch.models.rerankers.llm import LLMReranker
from prompts import RERANK
from tests.graph.replies import passages_in
from tests.servers import scripts
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

pytestmark = pytest.mark.loopback


async def _relevance(reply: Any, texts: list[str], batch: int = 5) -> tuple[list[float | None], OpenAIStub]:
    with OpenAIStub(reply) as stub:
        chat = await load_chat(ChatSettings("openai:stub", stub.base_url, timeout=3.0, retries=0))
        return await LLMReranker(chat, RERANK, batch=batch, concurrency=8).relevance("q", texts), stub


async def test_batches_go_out_together_and_scores_come_back_to_their_passages() -> None:
    def judge(request: Any) -> Reply:
        lines = [f"Doc: {n}, Relevance: {text.split()[-1]}" for n, text in passages_in(request).items()]
        return Reply("\n".join(reversed(lines)), delay=0.1)

    scores, stub = await _relevance(judge, [f"passage {n % 10}" for n in range(12)])
    assert scores == [float(n % 10) for n in range(12)]
    assert len(stub.calls) == 3
    assert stub.rounds() == 1


async def test_what_a_readable_batch_leaves_out_does_not_help() -> None:
    scores, _ = await _relevance("Doc: 2, Relevance: 7.5", ["a", "b", "c"])
    assert scores == [0.0, 7.5, 0.0]


@pytest.mark.parametrize("reply", ["no idea", "Doc: 0, Relevance: 9", "Doc: 99, Relevance: 9"])
async def test_an_unreadable_batch_is_not_judged(reply: str) -> None:
    scores, _ = await _relevance(reply, ["a", "b"])
    assert scores == [None, None]


async def test_one_failing_batch_leaves_the_others() -> None:
    scores, _ = await _relevance(scripts.in_turn(scripts.BROKEN, "Doc: 1, Relevance: 5"), ["a", "b", "c", "d"], batch=2)
    assert sorted(scores, key=str) == sorted([None, None, 5.0, 0.0], key=str)


async def test_all_failing_is_an_error_and_a_wrong_key_is_said() -> None:
    with pytest.raises(ModelError):
        await _relevance(scripts.BROKEN, ["a", "b"])
    with pytest.raises(MissingKeyError):
        await _relevance(scripts.UNAUTHORISED, ["a", "b"])
