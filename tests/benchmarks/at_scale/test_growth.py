"""The vocabulary of a made corpus grows as that of real text does."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from benchmarks import ROOT
from benchmarks.at_scale.growth import Coiner, Heaps, fitted
from benchmarks.at_scale.prose import sentences, words


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return sentences([ROOT / "docs"], 600, seed=1)


def test_the_law_of_a_real_text_tells_its_vocabulary(texts: list[str]) -> None:
    law = fitted(texts)
    read = [word for text in texts for word in words(text)]
    assert 0.3 < law.exponent < 0.9
    assert law.vocabulary(len(read)) == pytest.approx(len(set(read)), rel=0.1)


def coined(texts: list[str], law: Heaps, rounds: int) -> tuple[Coiner, list[str]]:
    coiner = Coiner(texts, law, random.Random(1))
    for text in texts:
        coiner.read(text)
    return coiner, [word for _ in range(rounds) for word in coiner.due(600)]


def test_text_that_repeats_gets_the_words_that_it_lacks(texts: list[str]) -> None:
    law = fitted(texts)
    coiner, found = coined(texts, law, 200)
    assert coiner.tokens == 120_000
    assert coiner.vocabulary == pytest.approx(law.vocabulary(120_000), rel=0.02)
    assert not set(found) & {word for text in texts for word in words(text)}
    assert len(found) == pytest.approx(2 * len(set(found)), rel=0.05)


def test_some_coined_words_are_common_and_most_are_rare(texts: list[str]) -> None:
    _, found = coined(texts, fitted(texts), 400)
    counts = sorted(Counter(found).values(), reverse=True)
    assert counts[0] > 20
    assert sum(count == 1 for count in counts) > len(counts) / 2


def test_no_more_than_one_token_in_ten_is_coined(texts: list[str]) -> None:
    _, found = coined(texts, Heaps(10.0, 0.99), 3)
    assert len(found) == 3 * 2 * (600 // 20)
