"""Answers without a chat model: the fewest verbatim sentences that cover the question, each with its passage.

Sentences are scored by BM25 among themselves and by cosine to the question, then picked one at a time for what they add
(maximal marginal relevance, Carbonell and Goldstein 1998): relevance, plus the question's words not covered yet, minus
likeness to what is already there. They are joined in reading order, and the answer says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from anabranch.synthesis.english_question_type import Asks

MAX_SENTENCES = 4
ENOUGH = 0.5
"""A further sentence must be worth at least this share of the first."""

FIGURE = 0.5
"""Added to a sentence that holds a figure, where the question asks for one (when, how many, how much)."""

NAME = 0.2
"""Added to a sentence with a name that is not in the question, where it asks who, where or which."""

PRIOR = 0.3
"""Added for the passage that ranked first, half of it for the second, and so on."""

NEW = 0.4
"""Share of a further sentence's worth that depends on the words of the question it adds."""

LIKE = 0.1
"""Taken off for likeness to a sentence that is there already, at a cosine of 1."""

RARE = 6.0
"""Idf of a word that the corpus does not know."""

_REFERENCE = re.compile(r"\s?\[\d+(?:\s?[,;–-]\s?\d+)*\]")

ALIKE = 0.92
"""Cosine over which a sentence says what another one said."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One candidate sentence.

    Attributes:
        number: Number of its passage in the windows.
        text: As the answer says it.
        terms: Analysed terms.
        rank: Position of its passage by relevance, from 0.
        order: Reading order over all passages.
        quote: The words of the passage; empty where that is the text itself.
        about: Those of the question's terms that the title and the headings over it have.
        is_row: Whether it is a row of a table.
    """

    number: int
    text: str
    terms: tuple[str, ...]
    rank: int
    order: int
    quote: str = ""
    about: frozenset[str] = frozenset()
    is_row: bool = False


def without_references(text: str) -> str:
    """Remove a document's own reference marks, "[12]" or "[3, 7]": in an answer they would read as citations."""
    return " ".join(_REFERENCE.sub("", text).split())


def pick(
    sentences: Sequence[Sentence],
    question_terms: Sequence[str],
    question_vector: NDArray[np.float32],
    vectors: NDArray[np.float32],
    *,
    asks: Asks | None = None,
    idf: Mapping[str, float] | None = None,
    limit: int = MAX_SENTENCES,
) -> list[Sentence]:
    """Pick the sentences that answer best, in reading order.

    Args:
        sentences: Candidates, n of them.
        question_terms: Analysed terms of the question.
        question_vector: Unit vector, shape (d,).
        vectors: Unit vectors of the sentences, shape (n, d).
        asks: What kind of thing the question asks for; None where that does not count.
        idf: How rare each term is; all count the same where it is missing.
        limit: Sentences at most.
    """
    if not sentences:
        return []
    relevance = _relevance(sentences, question_terms, vectors @ question_vector)
    if asks is not None:
        relevance += [FIGURE * asks.is_figure(each.text) + NAME * asks.is_name(each.text) for each in sentences]
    weights = {term: 1.0 if idf is None else max(idf.get(term, RARE), 0.1) for term in question_terms}
    has = [weights.keys() & {*each.terms, *each.about} for each in sentences]
    chosen: list[int] = []
    uncovered = set(weights)
    first = 0.0
    while len(chosen) < min(limit, len(sentences)):
        gains = _gains(relevance, vectors, chosen, [_share(each & uncovered, uncovered, weights) for each in has])
        best = int(np.argmax(gains))
        if not np.isfinite(gains[best]) or (chosen and gains[best] < ENOUGH * first):
            break
        first = first or float(gains[best])
        chosen.append(best)
        uncovered -= has[best]
    return sorted((sentences[index] for index in chosen), key=lambda sentence: sentence.order)


def _relevance(
    sentences: Sequence[Sentence], question_terms: Sequence[str], cosine: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return the mean of min-max BM25 and cosine, with a small bonus for the passages that ranked first."""
    said = [[*each.terms, *sorted(each.about.difference(each.terms))] for each in sentences]
    if question_terms and any(said):
        bm25 = np.asarray(BM25Okapi(said).get_scores(list(question_terms)), dtype=np.float64)
    else:
        bm25 = np.zeros(len(sentences))
    prior = np.array([1.0 / (1 + sentence.rank) for sentence in sentences])
    return 0.5 * _unit(bm25) + 0.5 * np.clip(cosine.astype(np.float64), 0, 1) + PRIOR * prior


def _unit(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def _share(part: set[str], whole: set[str], weights: Mapping[str, float]) -> float:
    return sum(weights[term] for term in part) / sum(weights[term] for term in whole) if whole else 0.0


def _gains(
    relevance: NDArray[np.float64], vectors: NDArray[np.float32], chosen: Sequence[int], new: Sequence[float]
) -> NDArray[np.float64]:
    """Return what each sentence adds to those chosen; minus infinity for these and for what they say already."""
    if not chosen:
        return relevance
    likeness = (vectors @ vectors[chosen].T).max(axis=1)
    gains: NDArray[np.float64] = relevance * (1 - NEW + NEW * np.asarray(new)) - LIKE * np.maximum(likeness, 0.0)
    gains[likeness > ALIKE] = -np.inf
    gains[list(chosen)] = -np.inf
    return gains
