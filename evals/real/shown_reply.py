"""A kept reply sent through the whole graph over its passages, and what a reader is then shown of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from anabranch.agent.prompts import JUDGE_ONE
from evals.real.real_replies import RealReply
from evals.synthesis.systems.anabranch import COMMON, room, state_over

# As the models were asked, but for the model.
SHOWN = {name: COMMON[name] for name in ("strategy", "top_k", "depth", "model_timeout", "answer_tokens")}


@dataclass(frozen=True, slots=True)
class ShownReply:
    """What came of a reply.

    Attributes:
        reply: What the model said.
        status: That of the answer.
        found: Claims of it that have a citation.
        unconfirmed: Claims of it that are marked, or of which all is.
    """

    reply: RealReply
    status: str
    found: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()

    @property
    def is_shown(self) -> bool:
        """Whether a reader is given it as the answer, marked or not."""
        return self.status in ("answered", "not_confirmed")

    @property
    def is_unmarked(self) -> bool:
        """Whether nothing warns the reader of any of it."""
        return self.status == "answered" and not self.unconfirmed


class KeptReplyModel(ChatOpenAI):
    """Says a kept reply; when it is asked to judge a claim, it asks its server."""

    reply: str

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401  # LangChain's signature
    ) -> ChatResult:
        if JUDGE_ONE in messages[-1].text:
            return await super()._agenerate(messages, stop, run_manager, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.reply))])


def through_the_graph(replies: Iterable[RealReply], judge_url: str | None = None) -> list[ShownReply]:
    """Send each reply through the graph; with `judge_url` its claims are judged by the model of a server there."""
    return [asyncio.run(_shown(each, judge_url)) for each in replies]


async def _shown(reply: RealReply, judge_url: str | None) -> ShownReply:
    question = reply.question
    settings = {
        **SHOWN, "model": _model(reply.reply, judge_url), "window_tokens": room([question.passages]),
        "verify": "llm" if judge_url else "words",
    }  # fmt: skip
    state = await state_over(question.id, question.question, question.passages, settings)
    found, doubted = (each["claim"] for each in state["citations"]), (each["text"] for each in state["unconfirmed"])
    return ShownReply(reply, state["status"], tuple(found), tuple(doubted))


def _model(reply: str, judge_url: str | None) -> BaseChatModel:
    if judge_url is None:
        return FakeListChatModel(responses=[reply])
    return KeptReplyModel(
        reply=reply,
        model="local",
        base_url=judge_url,
        api_key=SecretStr("none"),
        temperature=0,
        timeout=3600,
        max_retries=0,
        disable_streaming=True,
    )
