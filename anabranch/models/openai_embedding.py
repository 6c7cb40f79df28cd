"""Hosted embeddings: OpenAI, or any server that speaks its protocol."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from pydantic import SecretStr

from anabranch.errors import MissingKeyError, SettingsError
from anabranch.models.embedder import EmbedderSettings, Vectors, unit_rows
from anabranch.models.provider_errors import sorted_error
from anabranch.models.wordpiece_tokenizer import CountsInMiniLM
from anabranch.safety.key_redaction import keys_of
from anabranch.safety.operator import key_for

_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}

# OpenAI takes 8,191 tokens in a text and 300,000 in a request. A token has a byte at least, and in text of any script
# more, so that bytes are a bound that needs no tokenizer of the provider's.
_BATCH = 256
_TEXT_BYTES = 10_000
_REQUEST_BYTES = 300_000


class OpenAIEmbedder(CountsInMiniLM):
    """Embeds over HTTP; the client retries, and each fault is told apart by who can mend it."""

    def __init__(self, model: str, base_url: str | None = None, *, timeout: float = 60.0) -> None:
        """Prepare the client; nothing is sent yet, and OPENAI_API_KEY never to a `base_url`.

        Raises:
            MissingKeyError: No OPENAI_API_KEY and no `base_url`.
        """
        self.model = model
        self._base_url = base_url
        self._client = _new_client(model, base_url, timeout)
        super().__init__()
        self._lock = threading.Lock()
        self._dimension = _DIMENSIONS.get(model) if base_url is None else None

    @classmethod
    def from_settings(cls, settings: EmbedderSettings) -> Self:
        """Make one for a model, which has to be named: what it is decides what every vector of a corpus is.

        Raises:
            SettingsError: No model was named.
            MissingKeyError: As for making one.
        """
        if not settings.model:
            msg = "The embedder 'openai' needs the name of a model."
            raise SettingsError(msg, hint="Write it behind a colon: openai:text-embedding-3-small.")
        return cls(settings.model, settings.base_url)

    @property
    def name(self) -> str:
        """The provider and the model."""
        return f"openai:{self.model}"

    @property
    def dimension(self) -> int:
        """Length of each vector; asked of the server once where it is not known."""
        with self._lock:
            if self._dimension is None:
                self._dimension = int(self._request(["dimension"]).shape[1])
            return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per text, in order; a text past 10,000 bytes is cut there.

        Raises:
            MissingKeyError: The key was refused.
            SettingsError: The server does not know the model.
            RequestRefusedError: The server refuses the request as it is.
            ModelError: The server is down, slow, or answers nonsense.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.concatenate([self._request(batch) for batch in _batches([_sendable(text) for text in texts])])

    def _request(self, texts: Sequence[str]) -> Vectors:
        try:
            rows: Any = self._client.embed_documents(list(texts))
        except Exception as error:  # the client's own types are sorted below
            raise sorted_error(
                error,
                f"the embedder {self.name!r}",
                where=self._base_url or "the provider",
                key="ANABRANCH_BASE_URL_KEY is sent to the address in ANABRANCH_BASE_URL only."
                if self._base_url
                else "Check OPENAI_API_KEY.",
                settings="Check the model's name and base_url.",
                refusal="Check the model's name and base_url.",
                sent=keys_of(self._client),
            ) from error
        return unit_rows(rows, count=len(texts), embedder=self.name)


def _sendable(text: str) -> str:
    """Return what can be sent of a text: valid UTF-8, not too long; the protocol refuses an empty input."""
    sent = text.encode("utf-8", "replace")[:_TEXT_BYTES].decode("utf-8", "ignore")
    return sent if sent.strip() else "."


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in order, as many at a time as one request takes."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if batch and (len(batch) == _BATCH or size + length > _REQUEST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    yield batch


def _new_client(model: str, base_url: str | None, timeout: float) -> Any:  # noqa: ANN401  (one of langchain's)
    from langchain_openai import OpenAIEmbeddings

    key = SecretStr(key_for(base_url) or "not-needed")
    if base_url is None:
        if not os.environ.get("OPENAI_API_KEY"):
            msg = f"The embedder 'openai:{model}' needs OPENAI_API_KEY."
            raise MissingKeyError(msg, hint="Set it, or use embedder='minilm', which needs none.")
        key = SecretStr(os.environ["OPENAI_API_KEY"])
    options: dict[str, Any] = {"model": model, "base_url": base_url, "api_key": key, "timeout": timeout}
    # Its own check of lengths would cut texts with a tokenizer that has to be downloaded.
    return OpenAIEmbeddings(**options, max_retries=3, check_embedding_ctx_length=False)
