"""What became of questions that were answered: is the answer in it, how long is it, and should there be one at all.

How well a confidence tells what to answer is the area under the ROC curve.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from anabranch.evaluation.queries import Gold, contains, overlap

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
        text: Without its markers; empty for an abstention.
        passages: What it was written from.
        sentences: How many it cites.
        confidence: In the evidence, 0 to 1.
        features: What that was made of, by name.
    """

    text: str
    passages: str
    sentences: int
    confidence: float
    features: dict[str, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question.

    Attributes:
        question: Its id.
        kind: Whose it is.
        written: What was answered.
        holds: Whether the answer is in it; None where nothing is known to compare with, False for an abstention.
        reachable: Whether it is in the passages.
        lead: Whether it is in as many words from the start of the best passage: what length alone finds.
        recall: Share of the words of the reference sentences that it has; None without such sentences.
        precision: Share of its words that are theirs.
    """

    question: str
    kind: QuestionKind
    written: WrittenAnswer
    holds: bool | None = None
    reachable: bool | None = None
    lead: bool | None = None
    recall: float | None = None
    precision: float | None = None

    @property
    def answered(self) -> bool:
        """Whether there is an answer at all."""
        return bool(self.written.text)


def outcome_of(question: str, kind: QuestionKind, written: WrittenAnswer, gold: Gold) -> Outcome:
    """Hold an answer against what is known; a question that has no answer is only answered or not."""
    # Gold is known of own questions alone: the others have no answer here, whatever was written.
    if kind != "own" or not gold.is_comparable:
        return Outcome(question, kind, written)
    # A longer answer holds more answers by chance; the same length without any choosing is what it has to beat.
    lead = " ".join(written.passages.split()[: len(written.text.split())])
    shared = overlap(written.text, gold.references) if gold.references else None
    return Outcome(
        question=question,
        kind=kind,
        written=written,
        holds=_holds(written.text, gold),
        reachable=_holds(written.passages, gold),
        lead=_holds(lead, gold),
        recall=shared.recall if shared else None,
        precision=shared.precision if shared else None,
    )


def _holds(text: str, gold: Gold) -> bool:
    # Where a short answer or a pattern is known it decides alone: sentences that share half of their words may say the
    # opposite.
    found = contains(text, gold)
    return overlap(text, gold.references).recall >= HELD if found is None else found


def measures_of(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Return what is measured of the questions of one collection, by name; None where nothing could be compared.

    Of the questions that its documents answer and that have something to compare with (`compared` of them): the shares
    whose answer holds the answer (`contains`; an abstention does not), whose passages do (`reachable`: the most that
    could be), and where as many words from the start of the best passage do (`lead`). `recall`, and of those that were
    answered `precision`, `sentences` and `words`. Of each kind of questions: how many were asked, what share was
    answered, and how often an own one has more confidence.
    """
    own = [each for each in outcomes if each.kind == "own" and each.holds is not None]
    written = [each for each in own if each.answered]
    values = {
        # As a figure of its own: of how many questions a share is says how much it means.
        "compared": float(len(own)),
        "contains": _mean(own, lambda each: each.holds),
        "reachable": _mean(own, lambda each: each.reachable),
        "lead": _mean(own, lambda each: each.lead),
        "recall": _mean(own, lambda each: each.recall),
        # An abstention says nothing wrong: it counts against what is contained, not against precision.
        "precision": _mean(written, lambda each: each.precision),
        "sentences": _mean(written, lambda each: each.written.sentences),
        "words": _mean(written, lambda each: len(each.written.text.split())),
    }
    by_kind = {kind: [each for each in outcomes if each.kind == kind] for kind in KINDS}
    values["false_abstentions"] = _mean(by_kind["own"], lambda each: not each.answered)
    sure = {kind: [each.written.confidence for each in rows] for kind, rows in by_kind.items()}
    for kind, rows in by_kind.items():
        values[f"asked_{kind}"] = float(len(rows))
        # An own question against itself is no better than chance, by definition.
        if kind != "own":
            values[f"answered_{kind}"] = _mean(rows, lambda each: each.answered)
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
