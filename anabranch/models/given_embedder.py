"""An embedder that is given in code, in the place of a name: LangChain's, or any object that is an `Embedder`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from langchain_core.embeddings import Embeddings

from anabranch.errors import SettingsError
from anabranch.models.embedder import Embedder, Vectors, unit_rows
from anabranch.models.provider_errors import sorted_error
from anabranch.models.wordpiece_tokenizer import CountsInMiniLM
from anabranch.registry import OBJECT, object_name

_MEMBERS = ("embed", "count", "offsets")

_given: WeakValueDictionary[str, Embedder] = WeakValueDictionary()
"""By the spelling that a corpus keeps; each is held by the graph or the run that it was given to."""


class GivenEmbedder(CountsInMiniLM):
    """Embeds with an object of LangChain's; known by its class, its model and the length of its vectors."""

    def __init__(self, embeddings: Embeddings) -> None:
        """Take the object as it is, with its own timeouts and retries; nothing is sent yet."""
        self._embeddings = embeddings
        super().__init__()
        self._lock = threading.Lock()
        self._dimension = 0

    @property
    def name(self) -> str:
        """The class, the model where it says which, and the dimension: the class alone is too little."""
        return f"{object_name(self._embeddings)}/{self.dimension}"

    @property
    def dimension(self) -> int:
        """Length of each vector; one text is embedded to learn it."""
        with self._lock:
            if not self._dimension:
                self._dimension = int(self._rows(["dimension"]).shape[1])
            return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per passage, in order.

        Raises:
            AnabranchError: The object failed; see `sorted_error`.
        """
        return self._rows(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per question, in order.

        Raises:
            AnabranchError: See `embed`.
        """
        return self._rows(texts, queries=True)

    def _rows(self, texts: Sequence[str], *, queries: bool = False) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        what = object_name(self._embeddings)
        hint = f"Correct what {type(self._embeddings).__name__} was made with."
        try:
            rows: Any = (
                [self._embeddings.embed_query(text) for text in texts]
                if queries
                else self._embeddings.embed_documents(list(texts))
            )
        except Exception as error:
            raise sorted_error(
                error, f"the embedder {what!r}", where="Its provider", key=hint, settings=hint, refusal=hint, sent=()
            ) from error
        return unit_rows(rows, count=len(texts), embedder=what)


def wrap_embedder(embedder: Any) -> tuple[Embedder, str]:  # noqa: ANN401  # a caller may give anything
    """Return what an object embeds with, and its spelling, under which it is found for as long as somebody holds it.

    Raises:
        SettingsError: It is no embedder.
    """
    if isinstance(embedder, Embeddings):
        found: Embedder = GivenEmbedder(embedder)
        spec = f"{OBJECT}{object_name(embedder)}"
    elif not isinstance(embedder, type) and all(hasattr(type(embedder), name) for name in _MEMBERS):
        found = embedder
        spec = f"{OBJECT}{found.name}"
    else:
        msg = f"The embedder has to be Embeddings of LangChain, not {type(embedder).__name__}."
        raise SettingsError(msg, hint="Give such an object, or one with the members of anabranch.Embedder.")
    _given[spec] = found
    return found, spec


def find_embedder(spec: str) -> Embedder:
    """Return the object that was given under this spelling.

    Raises:
        SettingsError: Nobody holds one.
    """
    found = _given.get(spec)
    if found is None:
        msg = f"An embedder that was given in code is not loaded: {spec.removeprefix(OBJECT)}."
        raise SettingsError(msg, hint="Give it again: build(embedder=...), answer(..., embedder=...).")
    return found
