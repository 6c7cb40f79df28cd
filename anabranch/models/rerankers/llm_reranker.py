"""The chat model as a reranker: batches in parallel, in the form "Doc: 9, Relevance: 7".

A model that sees one batch judges it by what is in it: the best of a weak batch gets what the best of a strong one
gets. The first candidates, which every batch is shown as a yardstick, say how the scores of a batch compare with those
of the first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Self

from anabranch.errors import SettingsError
from anabranch.models.chat import Chat
from anabranch.models.rerankers import Reranker, RerankerSettings
from anabranch.models.rerankers.rerank_calls import judge_all
from anabranch.models.rerankers.scale_alignment import aligned
from anabranch.parsing.relevance_scores import Judgements, on_ten

# Passages that every batch is shown; fewer where they would be more than a third of a batch.
ANCHORS = 2


class LLMReranker(Reranker):
    """Judges the candidates in ceil(n / batch) calls that go out at the same time: one round trip."""

    name = "llm"
    needs_chat = True
    # Its prompt says what 0 means; scores from 1 on say how much a passage helps.
    floor = 0.0

    def __init__(self, chat: Chat, settings: RerankerSettings) -> None:
        """Keep the model, its instructions, and how many candidates a call judges."""
        self._chat = chat
        self._settings = settings
        # LangGraph holds branches to the bound of the run, and not the calls inside a step.
        self._gate = asyncio.Semaphore(settings.concurrency)

    @classmethod
    def from_settings(cls, settings: RerankerSettings) -> Self:
        """Make one.

        Raises:
            SettingsError: There is no chat model.
        """
        if settings.chat is None:
            msg = "rerank: llm needs a chat model, and none is configured."
            raise SettingsError(msg, hint="Set `model`, or choose another `rerank`.")
        return cls(settings.chat, settings)

    def chat_calls(self, count: int) -> int:
        """Return the calls, all at the same time, that judging `count` candidates takes."""
        return -(-count // self._settings.batch)

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Return relevances from 0 to 10, None for what was not judged: blank, or in a reply that failed.

        Texts are shown in the order given, which should be the best one known: a judge of a list keeps much of the
        order that it is shown (RankGPT over a random order drops from 65.8 to 25.2 nDCG@10).

        Raises:
            ModelError: Every call failed, or no reply could be read.
            UserError: The key or the model's name is wrong.
        """
        wanted = [index for index, text in enumerate(texts) if text.strip()]
        result: list[float | None] = [None] * len(texts)
        if not wanted:
            return result
        shown = [texts[index] for index in wanted]
        settings = self._settings
        scores = await judge_batches(self._chat, settings.prompt, question, shown, size=settings.batch, gate=self._gate)
        for place, score in scores.items():
            result[wanted[place]] = score
        return result


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
    # Of about equal size: a last batch of two would be judged by what the two are, not by the question.
    calls = -(-count // size)
    anchors = list(range(min(ANCHORS, size // 3))) if calls > 1 else []
    bounds = [count * call // calls for call in range(calls + 1)] if calls else [0]
    batches = [list(range(start, end)) for start, end in pairwise(bounds)]
    return anchors, [batch if number == 0 else [*anchors, *batch] for number, batch in enumerate(batches)]


def _scores(batch: Sequence[int], reply: Judgements | None) -> dict[int, float]:
    if reply is None:
        return {}
    scores = on_ten(reply.scores)
    # A whole reply was told to leave out what does not help; one that was cut off says nothing of what it lacks.
    silence: dict[int, float] = {} if reply.cut_off else dict.fromkeys(range(len(batch)), 0.0)
    return {batch[place]: score for place, score in {**silence, **scores}.items()}
