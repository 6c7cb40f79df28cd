"""A reranker of LangChain's: any document compressor that says which of the texts it is given are worth reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from langchain_core.documents import BaseDocumentCompressor, Document

from anabranch.errors import SettingsError
from anabranch.models.provider_errors import sorted_error
from anabranch.models.rerankers import Reranker, RerankerSettings

# Names of metadata: the place of a text, ours; and its score, which LangChain's rerankers give under this name.
_PLACE = "anabranch_place"
_SCORE = "relevance_score"


class CompressorReranker(Reranker):
    """Judges texts by the order, or the scores, that a compressor gives them; what it leaves out is not judged."""

    name = "compressor"

    def __init__(self, compressor: BaseDocumentCompressor) -> None:
        """Take the compressor as it is, with its own timeouts and retries."""
        self._compressor = compressor

    @classmethod
    def from_settings(cls, settings: RerankerSettings) -> Self:
        """Make one of the compressor that was given."""
        if settings.compressor is None:
            raise SettingsError("No reranker was given in code.", hint="Give one: build(reranker=...).")
        return cls(settings.compressor)

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Return the compressor's scores where it gives one to each text that it kept, else 1/rank.

        Raises:
            AnabranchError: It failed; see `sorted_error`.
        """
        documents = [Document(text, metadata={_PLACE: place}) for place, text in enumerate(texts)]
        try:
            kept = await self._compressor.acompress_documents(documents, question)
        except Exception as error:
            what = type(self._compressor).__name__
            hint = f"Correct what {what} was made with."
            raise sorted_error(
                error, f"the reranker {what}", where="Its provider", key=hint, settings=hint, refusal=hint, sent=()
            ) from error
        scores: list[Any] = [document.metadata.get(_SCORE) for document in kept]
        # Not every number is Python's: cross-encoders give NumPy's.
        if not all(hasattr(score, "__float__") for score in scores):
            scores = [1.0 / rank for rank in range(1, len(kept) + 1)]
        best: dict[object, float] = {}
        for document, score in zip(kept, scores, strict=True):
            # A compressor may cut a text into several: the best of them speaks for it.
            place = document.metadata.get(_PLACE)
            best[place] = max(float(score), best.get(place, float(score)))
        return [best.get(place) for place in range(len(texts))]
