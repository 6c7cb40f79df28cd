"""The chat model as a reranker: batches in parallel, in the form "Doc: 9, Relevance: 7".

A model that sees one batch judges it by what is in it: the best of a weak batch gets what the best of a strong one
gets. The first candidates, which every batch is shown as a yardstick, say how the scores of a batch compare with those
of the first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Self

from anabranch.errors import SettingsError
from anabranch.models.chat import Chat
from anabranch.models.rerankers import Reranker, RerankerSettings
from anabranch.models.rerankers.rerank_calls import judge_all
from anabranch.parsing.relevance_scores import BEST, Judgements, on_ten

# Passages that every batch is shown; fewer where they would be more than a third of a batch.
ANCHORS = 2

# Scores of one passage that differ by more than this differ for another reason than the scale.
MOST_SHIFT = 3.0
_CEILING = BEST - 0.5


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
        anchors, batches = plan(len(wanted), self._settings.batch)
        shown = [[texts[wanted[place]] for place in batch] for batch in batches]
        replies = await judge_all(self._chat, self._settings.prompt, question, shown, self._gate) if shown else []
        scores = align_scores([_scores(batch, reply) for batch, reply in zip(batches, replies, strict=True)], anchors)
        result: list[float | None] = [None] * len(texts)
        for place, score in scores.items():
            result[wanted[place]] = score
        return result


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
    """Return the relevance of each passage by index; without any where the reply failed or could not be read."""
    if reply is None:
        return {}
    scores = on_ten(reply.scores)
    # A whole reply was told to leave out what does not help; one that was cut off says nothing of what it lacks.
    silence: dict[int, float] = {} if reply.cut_off else dict.fromkeys(range(len(batch)), 0.0)
    return {batch[place]: score for place, score in {**silence, **scores}.items()}


def align_scores(batches: Sequence[Mapping[int, float]], anchors: Sequence[int]) -> dict[int, float]:
    """Join the judgements of several replies, each put on the scale of the first by the passages that both judged.

    The mean score of the shared passages is moved to what it is in the first reply that judged one; 0 and 10 stay
    where they are, and scores between them move in proportion. So the order within a reply is kept, and "does not
    help" stays that. (Several replies that see the same passage calibrate each other as overlapping windows do in
    RankGPT, Sun et al. 2023, arXiv 2304.09542, and all of them at the same time.)

    Args:
        batches: Relevance in [0, 10] by index, one mapping per reply; empty for a reply that could not be read.
        anchors: Indices that every reply was shown.

    Returns:
        Relevance in [0, 10] by index; for a passage in several replies that of the first of them.
    """
    # The first whose reply can be read: a failed batch must not decide.
    reference = next((batch for batch in batches if _helpful(batch, anchors)), {})
    joined: dict[int, float] = {}
    for batch in batches:
        shared = [index for index in _helpful(batch, anchors) if index in _helpful(reference, anchors)]
        here, there = (fmean(each[index] for index in shared) if shared else 0.0 for each in (batch, reference))
        for index, score in batch.items():
            joined.setdefault(index, _rescale(score, here, there) if here and batch is not reference else score)
    return joined


def _helpful(batch: Mapping[int, float], anchors: Sequence[int]) -> list[int]:
    return [index for index in anchors if batch.get(index, 0.0) > 0]


def _rescale(score: float, here: float, there: float) -> float:
    """Return a score on the map of [0, 10] onto itself that is made of two lines and takes `here` to `there`."""
    # Further apart, the two replies disagree about the passage: that is no matter of scale.
    target = min(max(there, here - MOST_SHIFT), here + MOST_SHIFT)
    if here < BEST:
        # Short of the top, or every score above `here` would become the best there is.
        target = min(target, max(here, _CEILING))
    if score <= here:
        return score * target / here
    return target + (score - here) * (BEST - target) / (BEST - here)
