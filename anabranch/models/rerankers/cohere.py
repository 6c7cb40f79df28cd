"""Cohere's rerank endpoint, through its own client, which tries again by itself after 429, 5xx and lost connections."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Self

from anabranch.errors import MissingExtraError, MissingKeyError
from anabranch.models.clients import Clients
from anabranch.models.provider_errors import failures_of, sorted_error
from anabranch.models.rerankers import Reranker, RerankerSettings
from anabranch.models.usage import count_call, count_repairs, note_failure
from anabranch.models.wordpiece_tokenizer import encodable

DEFAULT_MODEL = "rerank-v4.0-fast"
# The endpoint's limit for one request.
MAX_DOCUMENTS = 1_000

# A document is cut here; the endpoint itself reads 4,096 tokens of each.
MAX_CHARS = 16_000


class CohereReranker(Reranker):
    """Maps results back by index, never by text."""

    name = "cohere"

    def __init__(
        self, model: str | None = None, *, timeout: float = 60.0, retries: int = 2, base_url: str | None = None
    ) -> None:
        """Check what can be checked without a request; the client itself would miss its key only when it calls.

        Raises:
            MissingExtraError: The package cohere is not installed.
            MissingKeyError: Neither CO_API_KEY nor COHERE_API_KEY is set.
        """
        if find_spec("cohere") is None:
            feature = "rerank: cohere"
            raise MissingExtraError(feature, "cohere")
        key = next((found for name in ("CO_API_KEY", "COHERE_API_KEY") if (found := _variable(name))), None)
        if key is None:
            msg = "rerank: cohere needs a key."
            raise MissingKeyError(msg, hint="Set CO_API_KEY, or choose another `rerank`.")
        self._key = key
        self._url = base_url or _variable("CO_API_URL")
        self._model = model or DEFAULT_MODEL
        self._timeout = timeout
        self._retries = retries

    @classmethod
    def from_settings(cls, settings: RerankerSettings) -> Self:
        """Make one for the model in `rerank_model`."""
        return cls(settings.model, timeout=settings.timeout, retries=settings.retries)

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Return Cohere's relevance scores, from 0 to 1; blank texts are never sent and stay unjudged.

        Long lists go in several requests at the same time: the model scores each pair on its own, so scores of one
        question are comparable. Where some of the requests fail, their texts stay unjudged.

        Raises:
            ModelError: Every request failed.
            MissingKeyError: The key was refused.
            SettingsError: The model is not known there.
        """
        result: list[float | None] = [None] * len(texts)
        sent = [index for index, text in enumerate(texts) if text.strip()]
        parts = [sent[start : start + MAX_DOCUMENTS] for start in range(0, len(sent), MAX_DOCUMENTS)]
        # By place in the request: two passages with the same text are still two.
        documents = [[encodable(texts[index][:MAX_CHARS]) for index in part] for part in parts]
        replies = await asyncio.gather(
            *(self._request(encodable(question[:MAX_CHARS]), part) for part in documents), return_exceptions=True
        )
        for part, reply in zip(parts, replies, strict=True):
            if not isinstance(reply, BaseException):
                for place, score in reply.items():
                    result[part[place]] = score
        for failure in failures_of(replies):
            note_failure(f"1 of {len(parts)} requests to Cohere failed: {failure}")
        return result

    async def _request(self, question: str, documents: list[str]) -> dict[int, float]:
        """Return the relevance of each document that the reply names."""
        client = await _clients.get((self._key, self._url, self._timeout))
        try:
            async with asyncio.timeout(self._timeout):
                reply = await client.rerank(
                    model=self._model,
                    query=question,
                    documents=documents,
                    top_n=len(documents),
                    request_options={"max_retries": self._retries},
                )
        except Exception as error:  # the client raises one type per status code, and httpx's own
            raise sorted_error(
                error,
                f"Cohere's rerank model {self._model!r}",
                where="Cohere",
                key="Check CO_API_KEY.",
                settings="Check rerank_model.",
                refusal="Check rerank_model.",
                sent=(self._key,),
                seconds=self._timeout,
            ) from error
        finally:
            count_call()
        return _scores(reply, len(documents))


class _Client:
    """Cohere's own client, and the connections that it uses."""

    def __init__(self, made_with: tuple[str, str | None, float]) -> None:
        import cohere
        import httpx

        key, url, timeout = made_with
        self.pool = httpx.AsyncClient(timeout=timeout, follow_redirects=True)
        self.rerank = cohere.AsyncClientV2(api_key=key, base_url=url, timeout=timeout, httpx_client=self.pool).rerank


_clients: Clients[tuple[str, str | None, float], _Client] = Clients(_Client, lambda client: client.pool)


def _variable(name: str) -> str | None:
    return os.environ.get(name, "").strip() or None


def _scores(reply: Any, count: int) -> dict[int, float]:  # noqa: ANN401  # whatever the server sent
    """Read a reply; what names no document or has no score is skipped, and a document named twice counts once."""
    results = getattr(reply, "results", None)
    items = results if isinstance(results, list) else []
    found: dict[int, float] = {}
    for item in items:
        index: Any = getattr(item, "index", None)
        score: Any = getattr(item, "relevance_score", None)
        # CO_API_URL may name any server that speaks the protocol, more or less; True is an int.
        named = type(index) is int and 0 <= index < count and index not in found
        if named and type(score) in (int, float) and math.isfinite(score):
            found[index] = float(score)
    count_repairs(len(items) - len(found) + count - len(found))
    return found
