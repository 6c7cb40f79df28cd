"""The chat model judges batches of passages in parallel, in the form "Doc: 9, Relevance: 7"."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from anabranch.envelope import new_nonce, wrap
from anabranch.errors import ModelError
from anabranch.models.chat import Chat
from anabranch.relevance import parse_relevance

MAX_CHARS = 2_000
"""A passage is cut here for judging: relevance shows early, and a batch must fit a small context."""


class LLMReranker:
    """Batches go out at the same time, so the whole list costs one round trip."""

    name = "llm"

    def __init__(self, chat: Chat, system: str, *, batch: int, concurrency: int) -> None:
        """Keep the model and its instructions.

        Args:
            chat: The chat model.
            system: Instructions.
            batch: Passages a call.
            concurrency: Calls at once.
        """
        self._chat = chat
        self._system = system
        self._batch = batch
        self._gate = asyncio.Semaphore(concurrency)

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Return relevances from 0 to 10; a batch that cannot be read leaves its passages unjudged.

        Raises:
            ModelError: Every batch failed.
        """
        starts = range(0, len(texts), self._batch)
        batches = [texts[start : start + self._batch] for start in starts]
        replies = await asyncio.gather(*(self._judge(question, batch) for batch in batches), return_exceptions=True)
        result: list[float | None] = [None] * len(texts)
        failures: list[BaseException] = []
        for start, batch, reply in zip(starts, batches, replies, strict=True):
            if isinstance(reply, BaseException):
                failures.append(reply)
                continue
            judged = parse_relevance(reply, len(batch))
            for index in range(len(batch)):
                # A batch that was read and leaves a passage out says that it does not help.
                result[start + index] = judged.get(index, 0.0) if judged else None
        self._raise(failures, len(batches))
        return result

    @staticmethod
    def _raise(failures: list[BaseException], batches: int) -> None:
        for failure in failures:
            if not isinstance(failure, ModelError):
                raise failure
        if failures and len(failures) == batches:
            raise failures[0]

    async def _judge(self, question: str, batch: Sequence[str]) -> str:
        nonce = new_nonce()
        passages = wrap([(n, "", text[:MAX_CHARS]) for n, text in enumerate(batch, start=1)], nonce)
        async with self._gate:
            return await self._chat.ask(
                self._system, f"{passages}\n\nQuestion: {question}", max_tokens=24 * len(batch) + 40
            )
