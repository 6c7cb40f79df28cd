"""Answers without a chat model: the fewest verbatim statements that cover the question, each with its passage.

Statements are scored by BM25 among themselves and by cosine to the question, then picked one at a time for what they
add (maximal marginal relevance, Carbonell and Goldstein 1998): relevance, plus the question's words not covered yet,
minus likeness to what is already there. They are joined in reading order, and the answer says what it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from anabranch.synthesis.english_question_type import Asks
from anabranch.synthesis.statements import StatementForm

MAX_SENTENCES = 4
# A further sentence must be worth at least this share of the first.
ENOUGH = 0.5
# Taken off a sentence that says one word more than the question.
ECHO = 0.2
# Share of the first one's relevance that a sentence of another document must have.
ELSEWHERE = 0.5
# Share of the rarest word's weight from which a word of the question is worth a sentence of another document.
TELLING = 0.2
# Share of a sentence's relevance that BM25 says; the cosine says the rest.
BY_WORDS = 0.3
# Added for the passage that ranked first, half of it for the second, and so on.
PRIOR = 0.3
# Share of a further sentence's worth that depends on the words of the question it adds.
NEW = 0.4
# Taken off for likeness to a sentence that is there already, at a cosine of 1.
LIKE = 0.1
# Added for a row that is called what the question asks for: "Revenue", and not "Cost of revenue". As much of it as the
# row, its columns and its titles have of the question's words: it may be another company's revenue.
CALLED = 0.3
# Idf of a word that the corpus does not know.
RARE = 6.0
# Cosine over which a sentence says what another one said.
ALIKE = 0.92


@dataclass(frozen=True, slots=True)
class Sentence:
    """One candidate statement.

    Attributes:
        number: Number of its passage in the windows.
        text: As the answer shows it.
        terms: Analysed terms.
        rank: Position of its passage by relevance, from 0.
        order: Reading order over all passages.
        about: Those of the question's terms that the title and the headings over it have.
        form: What it is.
        document: Id of its document.
        span: The characters [start, end) of its passage; of two that share one, one is picked.
        label: Analysed terms of what a row is called.
    """

    number: int
    text: str
    terms: tuple[str, ...]
    rank: int
    order: int
    about: frozenset[str] = frozenset()
    form: StatementForm = "sentence"
    document: str = ""
    span: tuple[int, int] = (0, 0)
    label: frozenset[str] = frozenset()

    def overlaps(self, other: Sentence) -> bool:
        """Tell whether both have characters of one passage in common."""
        return self.number == other.number and self.span[0] < other.span[1] and other.span[0] < self.span[1]


def shortlist(
    sentences: Sequence[Sentence], question_terms: Sequence[str], *, asks: Asks | None = None, limit: int
) -> list[int]:
    """Return the places of the sentences that are worth comparing by meaning, best first: by words, kind and rank."""
    worth = _by_words(sentences, question_terms) + _prior(sentences) + _called(sentences, question_terms)
    if asks is not None:
        worth += [asks.bonus(each.text, each.form) for each in sentences]
    return [int(place) for place in np.argsort(-worth, kind="stable")[:limit]]


def pick(
    sentences: Sequence[Sentence],
    question_terms: Sequence[str],
    question_vector: NDArray[np.float32],
    vectors: NDArray[np.float32],
    *,
    asks: Asks | None = None,
    idf: Mapping[str, float] | None = None,
    cosines: NDArray[np.float32] | None = None,
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
        cosines: Of the question and each sentence, shape (n,); those of the vectors where it is missing.
        limit: Sentences at most.
    """
    # What only repeats the question is no answer to it, however near it is, unless it says that it is so.
    news = [len(set(each.terms).difference(question_terms)) for each in sentences]
    told = [asks is not None and asks.whether and each.text.endswith(".") for each in sentences]
    able = np.array([count > 0 or says for count, says in zip(news, told, strict=True)], dtype=bool)
    if not able.any():
        return []
    near = vectors @ question_vector if cosines is None else cosines
    plain = _relevance(sentences, question_terms, near)
    relevance = plain - [
        ECHO * (count == 1 and not _has_digit(each)) for count, each in zip(news, sentences, strict=True)
    ]
    if asks is not None:
        relevance += [asks.bonus(each.text, each.form) for each in sentences]
    # At least a little, so that a question of nothing but common words still has something to cover.
    weights = {term: 1.0 if idf is None else max(idf.get(term, RARE), 0.1) for term in question_terms}
    has = [weights.keys() & {*each.terms, *each.about} for each in sentences]
    chosen: list[int] = []
    uncovered = set(weights)
    first = 0.0
    while len(chosen) < min(limit, len(sentences)):
        new = [_share(each & uncovered, uncovered, weights) for each in has]
        gains = _gains(relevance, vectors, chosen, new)
        if asks is not None and not asks.figure:
            further = [at for at in range(len(sentences)) if _is_further_row(sentences, has, at, chosen)]
            gains[further] = relevance[further]
        gains[~able] = -np.inf
        best = int(np.argmax(gains))
        if not np.isfinite(gains[best]) or (chosen and gains[best] < ENOUGH * first):
            break
        # Against the first alone: measured against the one before, a long list of weaker and weaker ones would pass.
        first = first or float(gains[best])
        chosen.append(best)
        uncovered -= has[best]
        telling = {term for term in uncovered if weights[term] >= TELLING * max(weights.values())}
        able &= _may_follow(sentences, chosen, plain, [bool(each & telling) for each in has])
    return sorted((sentences[index] for index in chosen), key=lambda sentence: sentence.order)


def _may_follow(
    sentences: Sequence[Sentence], chosen: Sequence[int], relevance: NDArray[np.float64], tells: Sequence[bool]
) -> NDArray[np.bool_]:
    """Tell which sentences may stand beside those chosen: of another document only what is clearly about the rest."""
    first, last = sentences[chosen[0]], sentences[chosen[-1]]
    clear = ELSEWHERE * relevance[chosen[0]]
    return np.array([
        not each.overlaps(last) and (each.document == first.document or (told and worth >= clear))
        for each, worth, told in zip(sentences, relevance, tells, strict=True)
    ], dtype=bool)  # fmt: skip


def _has_digit(sentence: Sentence) -> bool:
    return any(map(str.isdigit, sentence.text))


def _relevance(
    sentences: Sequence[Sentence], question_terms: Sequence[str], cosine: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return min-max BM25 and cosine, weighed, with a small bonus for the passages that ranked first."""
    # Below 0 a cosine says no more than that the two have nothing in common.
    meant = (1 - BY_WORDS) * np.clip(cosine.astype(np.float64), 0, 1)
    return _by_words(sentences, question_terms) + meant + _prior(sentences) + _called(sentences, question_terms)


def _by_words(sentences: Sequence[Sentence], question_terms: Sequence[str]) -> NDArray[np.float64]:
    """Return the weighed min-max BM25 of each sentence, its title counted."""
    said = [[*each.terms, *sorted(each.about.difference(each.terms))] for each in sentences]
    if not (question_terms and any(said)):
        return np.zeros(len(sentences))
    return BY_WORDS * _unit(np.asarray(BM25Okapi(said).get_scores(list(question_terms)), dtype=np.float64))


def _called(sentences: Sequence[Sentence], question_terms: Sequence[str]) -> NDArray[np.float64]:
    asked = frozenset(question_terms)
    return np.array([
        CALLED * len(asked & {*each.terms, *each.about}) / len(asked) if each.label and each.label <= asked else 0.0
        for each in sentences
    ])  # fmt: skip


def _prior(sentences: Sequence[Sentence]) -> NDArray[np.float64]:
    return np.array([PRIOR / (1 + sentence.rank) for sentence in sentences])


def _unit(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def _share(part: set[str], whole: set[str], weights: Mapping[str, float]) -> float:
    return sum(weights[term] for term in part) / sum(weights[term] for term in whole) if whole else 0.0


def _is_further_row(sentences: Sequence[Sentence], has: Sequence[set[str]], place: int, chosen: Sequence[int]) -> bool:
    """Tell whether a row has the question's words as the first one chosen has them, and is called otherwise.

    Then it is one more of those that are asked for, however alike they read.
    """
    one, first = sentences[place], sentences[chosen[0]] if chosen else None
    return (
        first is not None
        and one.form == first.form == "row"
        and one.document == first.document
        and has[place] >= has[chosen[0]]
        and bool(one.label)
        and all(one.label != sentences[at].label for at in chosen)
    )


def _gains(
    relevance: NDArray[np.float64], vectors: NDArray[np.float32], chosen: Sequence[int], new: Sequence[float]
) -> NDArray[np.float64]:
    """Return what each sentence adds to those chosen; minus infinity for these and for what they say already."""
    if not chosen:
        return relevance.copy()
    likeness = (vectors @ vectors[chosen].T).max(axis=1)
    gains: NDArray[np.float64] = relevance * (1 - NEW + NEW * np.asarray(new)) - LIKE * np.maximum(likeness, 0.0)
    gains[likeness > ALIKE] = -np.inf
    gains[list(chosen)] = -np.inf
    return gains
