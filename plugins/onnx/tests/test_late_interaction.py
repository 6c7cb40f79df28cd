"""MaxSim by hand over an encoder of letters, and over the bundled one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from anabranch.errors import SettingsError
from anabranch.models.embedder import Vectors
from anabranch.models.rerankers import RerankerSettings
from anabranch_onnx import late_interaction
from anabranch_onnx.late_interaction import LateInteractionReranker


class Letters:
    """An embedder of whole texts, and of nothing smaller."""

    dimension = 4

    def __init__(self, name: str = "letters") -> None:
        self.name = name

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 4), np.float32) / 2

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [(place, place + 1) for place in range(len(text))]


class LetterTokens(Letters):
    """Each letter from a to d is a token with an axis of its own; "e" lies between "a" and "b"."""

    def __init__(self, name: str = "letters") -> None:
        super().__init__(name)
        self.encoded: list[str] = []

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        self.encoded += texts
        axes = {**dict(zip("abcd", np.eye(4), strict=True)), "e": np.array([0.6, 0.8, 0, 0])}
        return [np.array([axes[one] for one in text if one in axes], np.float32).reshape(-1, 4) for text in texts]


async def test_by_hand() -> None:
    scores = await LateInteractionReranker(LetterTokens("by hand")).relevance("ab", ["abc", "e", "cd", " ", "??"])
    # "a" finds itself or the 0.6 of "e", "b" itself or 0.8.
    assert scores == [1.0, pytest.approx(0.7, abs=1e-3), 0.0, None, None]


async def test_a_question_without_a_token_judges_nothing() -> None:
    assert await LateInteractionReranker(LetterTokens("no token")).relevance("??", ["abc"]) == [None]
    assert await LateInteractionReranker(LetterTokens("nothing")).relevance("ab", []) == []


async def test_what_is_kept_is_not_computed_again_and_the_score_stays() -> None:
    encoder = LetterTokens("kept")
    first = await LateInteractionReranker(encoder).relevance("ab", ["aec", "d"])
    again = await LateInteractionReranker(encoder).relevance("ab", ["aec", "d", "b"])
    assert again[:2] == first
    assert encoder.encoded == ["ab", "aec", "d", "ab", "b"]


async def test_two_encoders_share_nothing_and_the_oldest_goes() -> None:
    one, other = LetterTokens("one"), LetterTokens("other")
    for encoder in (one, other):
        await LateInteractionReranker(encoder).relevance("a", ["abc"])
        assert encoder.encoded == ["a", "abc"]
    await LateInteractionReranker(one).relevance("a", [f"{number} d" for number in range(late_interaction.KEPT)])
    assert len(late_interaction._kept) == late_interaction.KEPT
    await LateInteractionReranker(other).relevance("a", ["abc"])
    assert other.encoded == ["a", "abc"] * 2


async def test_the_bundled_encoder_prefers_the_passage_that_answers() -> None:
    texts = [
        "Herons nest at Lower Cray.",
        "The weir was built in 1848 by Ida Marrow.",
        "The mill stands by the bridge.",
    ]
    bundled = LateInteractionReranker.from_settings(RerankerSettings())
    scores = await bundled.relevance("Who built the weir?", texts)
    assert max(range(3), key=lambda index: scores[index] or 0.0) == 1
    assert all(score is not None and -1 <= score <= 1 for score in scores)


def test_an_embedder_without_token_vectors_is_refused() -> None:
    with pytest.raises(SettingsError, match="no vectors of single tokens") as caught:
        LateInteractionReranker(Letters())
    assert "rerank_model" in str(caught.value.hint)
