"""Answers without a chat model: the fewest verbatim sentences that cover the question, each with its passage.

Sentences are scored by BM25 among themselves and by cosine to the question, then picked one at a time for what they add
(maximal marginal relevance, Carbonell and Goldstein 1998): relevance, plus the question's words not covered yet, minus
likeness to what is already there. They are joined in reading order, and the answer says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

MAX_SENTENCES = 4
ENOUGH = 0.45
"""A further sentence must be worth at least this share of the first."""

FIGURE = 0.5
"""Added to a sentence that holds a figure, where the question asks for one (when, how many, how much)."""

_ASKS_FIGURE = re.compile(
    r"^\W*(when (did|do|does|was|were|is|are|will|has|have|had|can|should)|how (many|much|long|old|large|big|tall|high|"
    r"far|often))\b|\b(what|which) (year|date|month|day|percentage|share|number)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\b\d|\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|"
    r"eighty|ninety|hundred|thousand|million|billion|trillion|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|(mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
    re.IGNORECASE,
)

MOST_HEADING_WORDS = 12
_SAID = re.compile(r"[.!;:|…。！](?:[\"'”’)\]]|\s|\[\d+\])*$")

_CODE = re.compile(r"[{}]|[=!]=|\w=[\"'\w{\[(]|\w\.\w+\(|\w\[[\w\"']+\]|;\s*$|=>|::")
_REFERENCE = re.compile(r"\s?\[\d+(?:\s?[,;–-]\s?\d+)*\]")

ALIKE = 0.92
"""Cosine over which a sentence says what another one said."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One candidate sentence.

    Attributes:
        number: Number of its passage in the windows.
        text: Verbatim.
        terms: Analysed terms.
        rank: Position of its passage by relevance, from 0.
        order: Reading order over all passages.
    """

    number: int
    text: str
    terms: tuple[str, ...]
    rank: int
    order: int


def asks_figure(question: str) -> bool:
    """Say whether a question can only be answered with a number or a date."""
    return bool(_ASKS_FIGURE.search(question))


def says_something(text: str) -> bool:
    """Say whether a sentence can stand in an answer: a heading, a question or a line of code cannot."""
    if len(_CODE.findall(text)) >= 2:
        return False
    return bool(_SAID.search(text)) or len(text.split()) > MOST_HEADING_WORDS


def without_references(text: str) -> str:
    """Remove a document's own reference marks, "[12]" or "[3, 7]": in an answer they would read as citations."""
    return " ".join(_REFERENCE.sub("", text).split())


def pick(
    sentences: Sequence[Sentence],
    question_terms: Sequence[str],
    question_vector: NDArray[np.float32],
    vectors: NDArray[np.float32],
    *,
    figure: bool = False,
    limit: int = MAX_SENTENCES,
) -> list[Sentence]:
    """Pick the sentences that answer best, in reading order.

    Args:
        sentences: Candidates, n of them.
        question_terms: Analysed terms of the question.
        question_vector: Unit vector, shape (d,).
        vectors: Unit vectors of the sentences, shape (n, d).
        figure: Whether the question asks for a figure (`asks_figure`).
        limit: Sentences at most.
    """
    if not sentences:
        return []
    relevance = _relevance(sentences, question_terms, vectors @ question_vector)
    if figure:
        relevance += FIGURE * np.array([bool(_FIGURE.search(sentence.text)) for sentence in sentences])
    chosen: list[int] = []
    covered: set[str] = set()
    wanted = set(question_terms)
    first = 0.0
    while len(chosen) < min(limit, len(sentences)):
        gains = [
            -np.inf if index in chosen else _gain(index, sentences, relevance, vectors, chosen, wanted - covered)
            for index in range(len(sentences))
        ]
        best = int(np.argmax(gains))
        if not np.isfinite(gains[best]) or (chosen and gains[best] < ENOUGH * first):
            break
        first = first or float(gains[best])
        chosen.append(best)
        covered |= wanted & set(sentences[best].terms)
    return sorted((sentences[index] for index in chosen), key=lambda sentence: sentence.order)


def _relevance(
    sentences: Sequence[Sentence], question_terms: Sequence[str], cosine: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return the mean of min-max BM25 and cosine, with a small bonus for the passages that ranked first."""
    if question_terms and any(sentence.terms for sentence in sentences):
        index = BM25Okapi([list(sentence.terms) for sentence in sentences])
        bm25 = np.asarray(index.get_scores(list(question_terms)), dtype=np.float64)
    else:
        bm25 = np.zeros(len(sentences))
    prior = np.array([1.0 / (1 + sentence.rank) for sentence in sentences])
    return 0.5 * _unit(bm25) + 0.5 * np.clip(cosine.astype(np.float64), 0, 1) + 0.15 * prior


def _unit(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def _gain(
    index: int,
    sentences: Sequence[Sentence],
    relevance: NDArray[np.float64],
    vectors: NDArray[np.float32],
    chosen: Sequence[int],
    uncovered: set[str],
) -> float:
    gain = float(relevance[index])
    if not chosen:
        return gain
    likeness = float(max(vectors[index] @ vectors[other] for other in chosen))
    if likeness > ALIKE:
        return -np.inf
    new = len(uncovered & set(sentences[index].terms)) / len(uncovered) if uncovered else 0.0
    return gain * (0.6 + 0.4 * new) - 0.2 * max(likeness, 0.0)
