"""A cache of query vectors: the same question is searched for again every round and turn."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from anabranch.models.embedder import Embedder, Vectors, embed_queries
from anabranch.models.lru import LRU
from anabranch.models.usage import count_vectors

KEPT = 1_024

# A separate pool: a search that waits for vectors must not block their threads. Requests to a hosted embedder run side
# by side.
_EMBEDDING = ThreadPoolExecutor(max_workers=8, thread_name_prefix="anabranch-embedding")


class QueryVectors:
    """The vectors of the last `KEPT` queries by one embedder; for any thread."""

    def __init__(self, embedder: Embedder) -> None:
        """Begin with an empty cache."""
        self._embedder = embedder
        self._vectors = LRU[str, NDArray[np.float32]](KEPT)

    def embed(self, queries: Sequence[str]) -> Vectors:
        """Return a row for each query; embeds uncached ones side by side and counts both on the meter."""
        kept = {query: embed_one for query in queries if (embed_one := self._vectors.get(query)) is not None}
        new = list(dict.fromkeys(query for query in queries if query not in kept))
        # Both are counted, so that a trace can tell a cached question from one that was never searched for.
        count_vectors(embedded=len(new), known=len(kept))
        vectors = kept | dict(zip(new, _EMBEDDING.map(self._embed_alone, new), strict=True))
        return np.stack([vectors[query] for query in queries])

    def embed_one(self, query: str) -> NDArray[np.float32]:
        """Return the vector of a query, cached if a search has embedded it."""
        known = self._vectors.get(query)
        return self._embed_alone(query) if known is None else known

    def _embed_alone(self, query: str) -> NDArray[np.float32]:
        """Embed each query on its own: its vector must not depend on its batch."""
        vector: NDArray[np.float32] = embed_queries(self._embedder, [query])[0]
        self._vectors.set(query, vector)
        return vector
