"""Is there evidence? A judgement from retrieved scores alone, before any model is asked.

Two signals, because each is blind where the other sees: the best cosine of the question (an off-topic question has no
near passage: over SQuAD paragraphs 95 % of off-corpus questions stay below .34, 95 % of answerable ones above .37), and
how much of what the question asks about occurs together in one passage, weighted by how rare each word is.
Neither tells
an unanswerable question on the corpus's own topic from an answerable one; that is what `grade: llm` is for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

NEAR = 0.34
"""Cosine of all-MiniLM-L6-v2 under which a question has no passage on its subject."""

COVERED = 0.6
"""Share of the question's idf-weighted terms found in one passage over which words alone are evidence."""

BARELY = 0.25
"""Share under which even a near passage is doubtful."""

RARE = 6.0
"""Idf given to a term that the corpus does not know at all: as telling as a very rare one."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict with its reasons; `missing` holds the question's terms that no passage has."""

    verdict: Literal["enough", "thin", "nothing"]
    reasons: tuple[str, ...]
    missing: tuple[str, ...]


def term_coverage(terms: Sequence[str], found: Collection[str], idf: Mapping[str, float]) -> float:
    """Return the idf-weighted share of `terms` that occur in `found`, 1.0 where there are no terms to look for."""
    # In a small corpus no term is very rare, and one that is unknown must not outweigh all the others together.
    unknown = min(RARE, max((idf[term] for term in terms if term in idf), default=RARE))
    weights = {term: max(idf.get(term, unknown), 0.1) for term in terms}
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in found) / total if total else 1.0


def judge(
    *, passages: Sequence[Collection[str]], cosine: float | None, terms: Sequence[str], idf: Mapping[str, float]
) -> Judgement:
    """Judge whether the passages can answer.

    Args:
        passages: Analysed terms of each passage.
        cosine: Best cosine between the question and a passage; None where no dense retriever ran.
        terms: Analysed terms of the question.
        idf: Inverse document frequency of the terms the corpus knows.
    """
    anywhere = set().union(*passages)
    missing = tuple(dict.fromkeys(term for term in terms if term not in anywhere))
    if not passages:
        return Judgement("nothing", ("no passage was found",), missing)
    # Words scattered over passages that have nothing to do with each other are no evidence; together in one they are.
    covered = max(term_coverage(terms, passage, idf) for passage in passages)
    said = [f"one passage holds {covered:.0%} of the question's words, weighted by rarity"]
    if cosine is not None:
        said.append(f"the nearest passage has cosine {cosine:.2f}")
    near = cosine is not None and cosine >= NEAR
    if covered >= COVERED or (near and covered >= BARELY):
        return Judgement("enough", tuple(said), missing)
    if near or covered >= BARELY:
        return Judgement("thin", tuple(said), missing)
    return Judgement("nothing", tuple(said), missing)
