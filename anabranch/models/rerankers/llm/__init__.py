"""The chat model as a reranker: batches of passages, judged at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Self

from anabranch.errors import SettingsError
from anabranch.models.chat import Chat
from anabranch.models.rerankers import Reranker, RerankerSettings
from anabranch.models.rerankers.llm.batched_rerank import judge_batches


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
