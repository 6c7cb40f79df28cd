"""Measures answers: whether they hold the known answer, how long they are, and whether they are marked as weak.

The area under the ROC curve tells how well the confidence separates answerable questions from others.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from anabranch_evaluation.queries import Gold, contains, overlap

QuestionKind = Literal["own", "marked", "elsewhere", "removed"]
"""Kind of a question: the documents answer it; they are known not to; it belongs to another collection; the documents
that answer it were left out of the search."""

KINDS: tuple[QuestionKind, ...] = ("own", "marked", "elsewhere", "removed")

# Share of the reference sentences' words from which a text counts as the answer.
HELD = 0.5


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """One answer of the graph.

    Attributes:
        text: The answer without markers, or the passages shown; empty where nothing was found.
        passages: Text of the passages that it was written from.
        best: Text of the best leaf.
        is_weak: Whether the answer says that the evidence is weak.
        confidence: Confidence in the evidence, 0 to 1.
        features: Parts of that confidence by name.
    """

    text: str
    passages: str
    best: str
    is_weak: bool
    confidence: float
    features: dict[str, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one question.

    Attributes:
        question: Its id.
        kind: Its kind.
        written: The answer.
        holds: Whether the answer holds the known one; None where none is known.
        reachable: Whether the passages hold the known answer.
        first: Whether the best leaf holds it.
        recall: Share of the reference sentences' words in the answer; None without such sentences.
    """

    question: str
    kind: QuestionKind
    written: WrittenAnswer
    holds: bool | None = None
    reachable: bool | None = None
    first: bool | None = None
    recall: float | None = None


def outcome_of(question: str, kind: QuestionKind, written: WrittenAnswer, gold: Gold) -> Outcome:
    """Compare an answer with the known one."""
    # Only own questions are compared: the others have no answer here.
    if kind != "own" or not gold.is_comparable:
        return Outcome(question, kind, written)
    return Outcome(
        question=question,
        kind=kind,
        written=written,
        holds=_holds_answer(written.text, gold),
        reachable=_holds_answer(written.passages, gold),
        first=_holds_answer(written.best, gold),
        recall=overlap(written.text, gold.references).recall if gold.references else None,
    )


def _holds_answer(text: str, gold: Gold) -> bool:
    # A short answer or a pattern decides alone, because sentences that share half of their words may say the opposite.
    found = contains(text, gold)
    return overlap(text, gold.references).recall >= HELD if found is None else found


def measures_of(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Return the measures of one collection by name; None where nothing could be compared.

    Over the answerable questions with a known answer (`compared` of them): the shares where the answer holds it
    (`contains`), where the best leaf does (`first`, which a longer answer has to beat), and where the passages do
    (`reachable`, the upper bound); `recall`; and `chars`, the length. Over each kind of questions: how many were asked,
    for what share the evidence is marked as weak, and how often an own question has more confidence.
    """
    own = [each for each in outcomes if each.kind == "own" and each.holds is not None]
    values = {
        # The number of questions shows how much the shares mean.
        "compared": float(len(own)),
        "contains": _mean(own, lambda each: each.holds),
        "first": _mean(own, lambda each: each.first),
        "reachable": _mean(own, lambda each: each.reachable),
        "recall": _mean(own, lambda each: each.recall),
        "chars": _mean(own, lambda each: len(each.written.text)),
    }
    by_kind = {kind: [each for each in outcomes if each.kind == kind] for kind in KINDS}
    sure = {kind: [each.written.confidence for each in rows] for kind, rows in by_kind.items()}
    for kind, rows in by_kind.items():
        values[f"asked_{kind}"] = float(len(rows))
        values[f"weak_{kind}"] = _mean(rows, lambda each: each.written.is_weak)
        # Own questions against themselves would give chance, by definition.
        if kind != "own":
            values[f"auc_{kind}"] = auc(sure["own"], sure[kind])
    return values


def _mean(outcomes: Sequence[Outcome], value: Callable[[Outcome], float | None]) -> float | None:
    values = [float(found) for each in outcomes if (found := value(each)) is not None]
    return sum(values) / len(values) if values else None


def auc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """Return how often a score of the first kind is above one of the second, ties as half; None if one is empty.

    That is the area under the ROC curve (Hanley and McNeil 1982).
    """
    if not higher or not lower:
        return None
    below = sorted(lower)
    # Counts each lower score twice, and each equal one once.
    twice = sum(bisect_left(below, score) + bisect_right(below, score) for score in higher)
    return twice / (2 * len(higher) * len(lower))
