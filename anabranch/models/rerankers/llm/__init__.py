"""The chat model as a reranker, in two forms; the cheaper one for what there is to judge is the default."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from anabranch.models.chat import Chat
from anabranch.models.rerankers.llm.batched_rerank import judge_batches
from anabranch.models.rerankers.llm.listwise_rerank import WINDOW, judge_window

Form = Literal["auto", "listwise", "batches"]


def calls_of(form: Form, count: int, batch: int) -> int:
    """Return the model calls, all at the same time, that judging `count` candidates takes."""
    return 1 if _in_one_window(form, count) else -(-count // batch)


def _in_one_window(form: Form, count: int) -> bool:
    return form == "listwise" or (form == "auto" and count <= WINDOW)


class LLMReranker:
    """Judges the candidates in one window, or in batches that go out at the same time: one round trip either way."""

    name = "llm"

    def __init__(
        self, chat: Chat, *, listwise: str, batches: str, form: Form = "auto", batch: int = 10, concurrency: int = 8
    ) -> None:
        """Keep the model and its instructions.

        Args:
            chat: The chat model.
            listwise: Instructions for one window.
            batches: Instructions for a batch.
            form: `listwise`: one call over the first 20 candidates. `batches`: ceil(n / batch) calls over all of them.
                `auto`: whichever judges all of them in fewer calls.
            batch: Candidates that a call is the first to judge.
            concurrency: Calls at once.
        """
        self._chat = chat
        self._listwise = listwise
        self._batches = batches
        self._form: Form = form
        self._batch = batch
        self._gate = asyncio.Semaphore(concurrency)

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Return relevances from 0 to 10, None for what was not judged: blank, past the window, not named.

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
        if _in_one_window(self._form, len(shown)):
            scores = await judge_window(self._chat, self._listwise, question, shown)
        else:
            scores = await judge_batches(self._chat, self._batches, question, shown, size=self._batch, gate=self._gate)
        for place, score in scores.items():
            result[wanted[place]] = score
        return result


__all__ = ["Form", "LLMReranker", "calls_of"]
