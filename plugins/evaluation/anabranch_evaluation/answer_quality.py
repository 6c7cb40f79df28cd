"""What became of questions that were answered: is the answer in what is shown, how long is that, is it said to be weak.

How well a confidence tells what to answer is the area under the ROC curve.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from anabranch_evaluation.queries import Gold, contains, overlap

QuestionKind = Literal["own", "marked", "elsewhere", "removed"]
"""Whose question it is: the documents answer it; they do not, as is known; it is another collection's; the documents
that answer it were left out of the search."""

KINDS: tuple[QuestionKind, ...] = ("own", "marked", "elsewhere", "removed")

# Share of the reference sentences' words that makes an answer count as one.
HELD = 0.5


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """One answer, as it left the graph.

    Attributes:
        text: Without its markers, or the passages that it shows; empty where nothing was found.
        passages: What it was written from.
        best: The best leaf of these alone.
        is_weak: Whether the evidence is said to be weak.
        confidence: In the evidence, 0 to 1.
        features: What that was made of, by name.
    """

    text: str
    passages: str
    best: str
    is_weak: bool
    confidence: float
    features: dict[str, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question.

    Attributes:
        question: Its id.
        kind: Whose it is.
        written: What was answered.
        holds: Whether the answer is in it; None where nothing is known to compare with.
        reachable: Whether it is in the passages.
        first: Whether it is in the best leaf alone.
        recall: Share of the words of the reference sentences that it has; None without such sentences.
    """

    question: str
    kind: QuestionKind
    written: WrittenAnswer
    holds: bool | None = None
    reachable: bool | None = None
    first: bool | None = None
    recall: float | None = None


def outcome_of(question: str, kind: QuestionKind, written: WrittenAnswer, gold: Gold) -> Outcome:
    """Hold an answer against what is known; of a question that has no answer nothing is."""
    # Gold is known of own questions alone: the others have no answer here, whatever was written.
    if kind != "own" or not gold.is_comparable:
        return Outcome(question, kind, written)
    return Outcome(
        question=question,
        kind=kind,
        written=written,
        holds=_holds(written.text, gold),
        reachable=_holds(written.passages, gold),
        first=_holds(written.best, gold),
        recall=overlap(written.text, gold.references).recall if gold.references else None,
    )


def _holds(text: str, gold: Gold) -> bool:
    # Where a short answer or a pattern is known it decides alone: sentences that share half of their words may say the
    # opposite.
    found = contains(text, gold)
    return overlap(text, gold.references).recall >= HELD if found is None else found


def measures_of(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Return what is measured of the questions of one collection, by name; None where nothing could be compared.

    Of the questions that its documents answer and that have something to compare with (`compared` of them): the shares
    where what is shown holds the answer (`contains`), where the best leaf alone does (`first`: what a longer answer has
    to beat), and where the passages do (`reachable`: the most that could be); `recall`, and `chars`, the length. Of
    each kind of questions: how many were asked, of what share the evidence is said to be weak, and how often an own one
    has more confidence.
    """
    own = [each for each in outcomes if each.kind == "own" and each.holds is not None]
    values = {
        # As a figure of its own: of how many questions a share is says how much it means.
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
        # An own question against itself is no better than chance, by definition.
        if kind != "own":
            values[f"auc_{kind}"] = auc(sure["own"], sure[kind])
    return values


def _mean(outcomes: Sequence[Outcome], value: Callable[[Outcome], float | None]) -> float | None:
    values = [float(found) for each in outcomes if (found := value(each)) is not None]
    return sum(values) / len(values) if values else None


def auc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """Return how often a score of the first kind is above one of the second, ties as half; None without both.

    That is the area under the ROC curve (Hanley and McNeil 1982).
    """
    if not higher or not lower:
        return None
    below = sorted(lower)
    # Twice the number of the others that it is above, and those it is level with once.
    twice = sum(bisect_left(below, score) + bisect_right(below, score) for score in higher)
    return twice / (2 * len(higher) * len(lower))
