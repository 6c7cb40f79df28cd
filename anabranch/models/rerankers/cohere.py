"""Cohere's rerank endpoint, through its own client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Any

from anabranch.errors import AnabranchError, MissingExtraError, MissingKeyError, ModelError, SettingsError
from anabranch.models.metering import count_call

DEFAULT_MODEL = "rerank-v4.0-fast"
MAX_DOCUMENTS = 1_000
"""The endpoint's limit for one request."""


class CohereReranker:
    """Maps results back by index, never by text."""

    name = "cohere"

    def __init__(self, model: str | None = None, *, timeout: float = 60.0, base_url: str | None = None) -> None:
        """Make the client.

        Raises:
            MissingExtraError: The package cohere is not installed.
            MissingKeyError: Neither CO_API_KEY nor COHERE_API_KEY is set; the client itself would only say so later.
        """
        try:
            import cohere
        except ImportError as error:
            feature = "rerank: cohere"
            raise MissingExtraError(feature, "cohere") from error
        key = os.environ.get("CO_API_KEY") or os.environ.get("COHERE_API_KEY")
        if not key:
            msg = "rerank: cohere needs a key."
            raise MissingKeyError(msg, hint="Set CO_API_KEY, or choose another `rerank`.")
        url = base_url or os.environ.get("CO_API_URL") or None
        self._client: Any = cohere.AsyncClientV2(api_key=key, base_url=url, timeout=timeout)
        self._model = model or DEFAULT_MODEL
        self._timeout = timeout

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Return Cohere's relevance scores; blank texts are never sent and stay unjudged.

        Scores of different requests are comparable (the model scores each pair on its own), so long lists are cut.
        """
        result: list[float | None] = [None] * len(texts)
        sent = [index for index, text in enumerate(texts) if text.strip()]
        for start in range(0, len(sent), MAX_DOCUMENTS):
            part = sent[start : start + MAX_DOCUMENTS]
            for index, score in await self._request(question, [texts[index] for index in part]):
                if 0 <= index < len(part):
                    result[part[index]] = score
        return result

    async def _request(self, question: str, documents: list[str]) -> list[tuple[int, float]]:
        try:
            async with asyncio.timeout(self._timeout):
                reply = await self._client.rerank(
                    model=self._model, query=question, documents=documents, top_n=len(documents)
                )
        except Exception as error:  # the client raises one type per status code, and httpx's own
            raise _sorted_error(error, self._model) from error
        finally:
            count_call()
        return [(int(item.index), float(item.relevance_score)) for item in reply.results]


def _sorted_error(error: Exception, model: str) -> AnabranchError:
    status = getattr(error, "status_code", None)
    said = " ".join(str(getattr(error, "body", None) or error).split())[:300]
    if status in (401, 403):
        return MissingKeyError(f"Cohere refused the key ({status}).", hint="Check CO_API_KEY.")
    if status in (400, 404, 422):
        return SettingsError(f"Cohere refused the request for {model!r} ({status}): {said}", hint="Check rerank_model.")
    return ModelError(f"Cohere's rerank failed: {type(error).__name__}: {said}", hint="Try again later.")
