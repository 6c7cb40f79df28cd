"""Judges for the stub server: what a chat model would say about passages that carry their relevance as last word."""

from __future__ import annotations

from typing import Any

from anabranch.agent.prompts import RERANK
from anabranch.models.chat import ChatSettings, load_chat
from anabranch.models.rerankers import RerankerSettings
from anabranch.models.rerankers.llm_reranker import LLMReranker
from tests.graph.replies import passages_in
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub


def grades(request: Request) -> dict[int, float]:
    """Return the relevance that each passage of a request carries."""
    return {number: float(text.split()[-1]) for number, text in passages_in(request).items()}


def by_lines(request: Request) -> Reply:
    """Judge as the prompt asks, worst first so that nobody relies on the order."""
    lines = [f"Doc: {number}, Relevance: {grade:g}" for number, grade in grades(request).items() if grade]
    return Reply("\n".join(reversed(lines)) or "None")


async def relevance(reply: Any, texts: list[str], **options: Any) -> tuple[list[float | None], OpenAIStub]:
    """Rerank against a stub; return the relevances and the stub with its calls."""
    with OpenAIStub(reply) as stub:
        chat = await load_chat(ChatSettings("openai:stub", stub.base_url, timeout=60.0, retries=0))
        settings = RerankerSettings(prompt=RERANK, chat=chat, **options)
        reranker = LLMReranker.from_settings(settings)
        return await reranker.relevance("q", texts), stub
