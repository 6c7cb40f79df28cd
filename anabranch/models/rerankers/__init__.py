"""Rerankers reorder candidates: a chat model, Cohere, or one of a plugin or another package, behind one Protocol.

A reranker gives each text a relevance or None ("not judged"); it never drops, repeats or reorders anything itself, so
that no document can be lost on the way. Another package adds one as `anabranch.registry` says:

    class MyReranker(Reranker):
        name = "mine"

        @classmethod
        def from_settings(cls, settings: RerankerSettings) -> Self: ...

        async def relevance(self, question: str, texts: Sequence[str]) -> list[float | None]: ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

from anabranch.registry import Registry

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor

    from anabranch.models.chat import Chat


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """What a reranker may be told; each takes what it needs.

    Attributes:
        model: The setting `rerank_model`, which each reads in its own way: a model's name, or a folder.
        timeout: Seconds that one request may take, retries included.
        retries: Further tries after 429, 5xx and lost connections.
        concurrency: Requests at once.
        batch: Candidates that one call of a chat model is the first to judge; 20 is the best size of a list that
            RankGPT found (Sun et al. 2023, arXiv 2304.09542).
        prompt: Instructions to a chat model.
        chat: The chat model; None where none is configured.
        compressor: LangChain's, where one was given in code.
    """

    model: str | None = None
    timeout: float = 60.0
    retries: int = 2
    concurrency: int = 8
    batch: int = 20
    prompt: str = ""
    chat: Chat | None = None
    compressor: BaseDocumentCompressor | None = None


class Reranker(Protocol):
    """Scores texts for a question.

    Attributes:
        name: What messages call it.
        needs_chat: Whether it judges by the chat model, whose calls count against the budget of a turn.
        floor: Relevance up to which a text does not help, so that one without a judgement goes before it; None where
            the scale has no such point (a logit, say) and texts without a judgement go last.
        share: How much its relevance counts beside the fused score, both mapped to 0 .. 1 over what it judged; 1 where
            it alone decides.
    """

    name: ClassVar[str]
    needs_chat: ClassVar[bool] = False
    floor: ClassVar[float | None] = None
    share: ClassVar[float] = 1.0

    @classmethod
    def from_settings(cls, settings: RerankerSettings) -> Self:
        """Make one; called in a thread, so it may load a model.

        Raises:
            UserError: A key, a package, a folder or the chat model that it needs is missing.
        """
        ...

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Return one relevance per text, aligned with `texts`; None where this text was not judged.

        Raises:
            ModelError: The provider failed; the caller keeps the order it had.
            UserError: A key, a model name or a folder is wrong.
        """
        ...

    def chat_calls(self, count: int) -> int:  # noqa: ARG002  # for those who need the chat model
        """Return the calls of the chat model, all at the same time, that judging `count` candidates takes."""
        return 0


RERANKERS: Registry[type[Reranker]] = Registry(
    "reranker",
    {
        "llm": "anabranch.models.rerankers.llm_reranker:LLMReranker",
        "cohere": "anabranch.models.rerankers.cohere:CohereReranker",
    },
)
