"""Vectors of queries: embedded once, on their own, counted, and anew where that is asked for."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from anabranch.models.embedder import Vectors
from anabranch.models.usage import metered
from anabranch.store import query_vectors
from anabranch.store.query_vectors import QueryVectors


class Lettered:
    """An embedder whose vector of a text is its length and the number of its vowels."""

    name, spec, dimension, max_tokens = "lettered", "lettered", 2, 512

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            self.asked.update(texts)
        return np.array([[len(text), sum(text.count(vowel) for vowel in "aeiou")] for text in texts], dtype=np.float32)

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


@pytest.fixture
def embedder() -> Lettered:
    return Lettered()


def test_each_query_is_embedded_once(embedder: Lettered) -> None:
    vectors = QueryVectors(embedder)
    with metered() as meter:
        first = vectors.embed(["weir", "mill", "weir"])
        again = vectors.embed(["mill", "bee"])
    assert first.tolist() == [[4, 2], [4, 1], [4, 2]]
    assert again.tolist() == [[4, 1], [3, 2]]
    assert embedder.asked == {"weir": 1, "mill": 1, "bee": 1}
    assert (meter.embedded, meter.known) == (3, 1)
    assert vectors.embed_one("weir").tolist() == [4, 2]
    assert embedder.asked["weir"] == 1


def test_the_last_used_are_kept(embedder: Lettered, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_vectors, "KEPT", 2)
    vectors = QueryVectors(embedder)
    for query in ("a", "b", "a", "c", "a", "b"):
        vectors.embed([query])
    assert embedder.asked == {"a": 1, "b": 2, "c": 1}
