"""The chat model as a reranker, in two forms; the cheaper one for what there is to judge is the default."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Self

from anabranch.errors import SettingsError
from anabranch.models.chat import Chat
from anabranch.models.rerankers import Reranker, RerankerSettings, RerankForm
from anabranch.models.rerankers.llm.batched_rerank import judge_batches
from anabranch.models.rerankers.llm.rerank_calls import judge
from anabranch.parsing.relevance import read_listwise

WINDOW = 20
"""Passages of one listwise call: the best size that RankGPT found (Sun et al. 2023, arXiv 2304.09542).

RankGPT slides its window over longer lists, one call after the other. Here the window stands over the best candidates,
and the others keep their order behind them.
"""

RANKING_SCHEMA: dict[str, Any] = {
    "title": "ranking",
    "description": "The passages that help, the most helpful first.",
    "type": "object",
    "properties": {
        "ranking": {
            "type": "array",
            # Not held to two items: some providers refuse a schema that says how many.
            "items": {
                "type": "array",
                "items": {"type": "integer"},
                "description": "Number of a passage, then its relevance: 1 (touches the subject) to 10 (the answer).",
            },
        }
    },
    "required": ["ranking"],
    "additionalProperties": False,
}
"""What a model is asked for that can be held to a JSON schema; `read_listwise` reads it, and much else.

Pairs, because the time of this call is the time to write the reply: objects with named fields are twice as long.
"""


class LLMReranker(Reranker):
    """Judges the candidates in one window, or in batches that go out at the same time: one round trip either way."""

    name = "llm"
    needs_chat = True
    # Its prompt says what 0 means; scores from 1 on say how much a passage helps.
    floor = 0.0

    def __init__(self, chat: Chat, settings: RerankerSettings) -> None:
        """Keep the model and its instructions.

        Args:
            chat: The chat model.
            settings: Its prompts, and the form: `listwise` is one call over the first 20 candidates, `batches` is
                ceil(n / batch) calls over all of them, `auto` whichever judges all of them in fewer calls.
        """
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
        return 1 if self._in_one_window(count) else -(-count // self._settings.batch)

    def _in_one_window(self, count: int) -> bool:
        form: RerankForm = self._settings.form
        return form == "listwise" or (form == "auto" and count <= WINDOW)

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
        settings = self._settings
        if self._in_one_window(len(shown)):
            scores = await _judge_window(self._chat, settings.listwise_prompt, question, shown)
        else:
            scores = await judge_batches(
                self._chat, settings.batch_prompt, question, shown, size=settings.batch, gate=self._gate
            )
        for place, score in scores.items():
            result[wanted[place]] = score
        return result


async def _judge_window(chat: Chat, system: str, question: str, texts: Sequence[str]) -> dict[int, float]:
    """Return the relevance of each passage that the reply names, by index.

    What it does not name is not judged: a list of the best says nothing about the rest, unless it is empty.

    Raises:
        ModelError: The provider failed, or its reply cannot be read.
    """
    shown = texts[:WINDOW]
    judged = await judge(chat, system, question, shown, read_listwise, RANKING_SCHEMA)
    return judged.scores or dict.fromkeys(range(len(shown)), 0.0)
