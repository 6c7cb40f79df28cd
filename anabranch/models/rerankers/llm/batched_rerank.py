"""Batches in parallel, in the form "Doc: 9, Relevance: 7"; each also judges the same few passages, as a yardstick.

A model that sees one batch judges it by what is in it: the best of a weak batch gets what the best of a strong one
gets. The first candidates, which every batch is shown, say how the scores of a batch compare with those of the first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise

from anabranch.models.chat import Chat
from anabranch.models.rerankers.llm.rerank_calls import judge_all
from anabranch.parsing.relevance import Judgements, aligned, on_ten

ANCHORS = 2
"""Passages that every batch is shown; fewer where they would be more than a third of a batch."""


async def judge_batches(
    chat: Chat, system: str, question: str, texts: Sequence[str], *, size: int, gate: asyncio.Semaphore
) -> dict[int, float]:
    """Return the relevance of each passage by index, without those of a reply that failed or was cut off.

    A passage that a whole reply leaves out does not help: the model was told to leave such passages out.

    Raises:
        ModelError: Every call failed, or no reply could be read.
    """
    anchors, batches = plan(len(texts), size)
    replies = await judge_all(chat, system, question, [[texts[index] for index in batch] for batch in batches], gate)
    scored = [_scores(batch, reply) for batch, reply in zip(batches, replies, strict=True)]
    return aligned(scored, anchors)


def plan(count: int, size: int) -> tuple[list[int], list[list[int]]]:
    """Divide candidates among ceil(count / size) calls of about equal size.

    Returns:
        The anchors, and for each call the indices it is shown, ascending: the anchors and its own.
    """
    calls = -(-count // size)
    anchors = list(range(min(ANCHORS, size // 3))) if calls > 1 else []
    bounds = [count * call // calls for call in range(calls + 1)] if calls else [0]
    batches = [list(range(start, end)) for start, end in pairwise(bounds)]
    return anchors, [batch if number == 0 else [*anchors, *batch] for number, batch in enumerate(batches)]


def _scores(batch: Sequence[int], reply: Judgements | None) -> dict[int, float]:
    if reply is None:
        return {}
    scores = on_ten(reply.scores)
    silence: dict[int, float] = {} if reply.cut_off else dict.fromkeys(range(len(batch)), 0.0)
    return {batch[place]: score for place, score in {**silence, **scores}.items()}
