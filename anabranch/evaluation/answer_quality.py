"""What became of questions that were answered: is the answer in it, how long is it, and should there be one at all.

How well a confidence tells what to answer is the area under the ROC curve, and risk against coverage: a system that may
abstain answers the questions it is surest of first. Its coverage is the share that it answers, its risk the share of
those that are wrong (El-Yaniv and Wiener, JMLR 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Literal

from anabranch.evaluation.queries import Gold, contains, overlap

QuestionKind = Literal["own", "marked", "elsewhere", "removed"]
"""Whose question it is: the documents answer it; they do not, as is known; it is another collection's; the documents
that answer it were left out of the search."""

KINDS: tuple[QuestionKind, ...] = ("own", "marked", "elsewhere", "removed")

HELD = 0.5
"""Share of the reference sentences' words that makes an answer count as one."""


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """One answer, as it left the graph.

    Attributes:
        text: Without its markers; empty for an abstention.
        passages: What it was written from.
        sentences: How many it cites.
        confidence: In the evidence, 0 to 1.
        signals: What that was made of.
    """

    text: str
    passages: str
    sentences: int
    confidence: float
    signals: dict[str, float]


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
    if kind != "own" or not gold.is_comparable:
        return Outcome(question, kind, written)
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
    found = contains(text, gold)
    return overlap(text, gold.references).recall >= HELD if found is None else found


@dataclass(frozen=True, slots=True)
class Quality:
    """Means over the questions of one collection that its documents answer; None where nothing could be compared.

    Attributes:
        asked: Questions with something to compare with.
        contains: Share whose answer holds the answer; an abstention does not.
        reachable: Share whose passages hold it: the most that could be.
        lead: Share where as many words from the start of the best passage hold it.
        recall: See `Outcome`.
        precision: See `Outcome`; of the answered ones.
        sentences: In an answer.
        words: In an answer.
    """

    asked: int
    contains: float | None
    reachable: float | None
    lead: float | None
    recall: float | None
    precision: float | None
    sentences: float | None
    words: float | None


def quality_of(outcomes: Iterable[Outcome]) -> Quality:
    """Add up what became of the questions that have an answer."""
    own = [each for each in outcomes if each.kind == "own" and each.holds is not None]
    answered = [each for each in own if each.answered]
    return Quality(
        asked=len(own),
        contains=_mean(own, lambda each: each.holds),
        reachable=_mean(own, lambda each: each.reachable),
        lead=_mean(own, lambda each: each.lead),
        recall=_mean(own, lambda each: each.recall),
        precision=_mean(answered, lambda each: each.precision),
        sentences=_mean(answered, lambda each: each.written.sentences),
        words=_mean(answered, lambda each: len(each.written.text.split())),
    )


@dataclass(frozen=True, slots=True)
class Caution:
    """How well one collection's answerable questions are told from others.

    Attributes:
        asked: Questions by kind.
        answered: Share of each kind that was answered.
        auc: How often an own question has more confidence than one of the kind.
    """

    asked: dict[QuestionKind, int]
    answered: dict[QuestionKind, float]
    auc: dict[QuestionKind, float]

    @property
    def false_abstentions(self) -> float | None:
        """Share of the questions with an answer in the documents that got none."""
        return None if "own" not in self.answered else 1 - self.answered["own"]


def caution_of(outcomes: Sequence[Outcome]) -> Caution:
    """Compare the kinds of questions that were asked of one collection."""
    kinds: dict[QuestionKind, list[Outcome]] = {}
    for kind in KINDS:
        if rows := [each for each in outcomes if each.kind == kind]:
            kinds[kind] = rows
    confidence: dict[QuestionKind, list[float]] = {}
    for kind, rows in kinds.items():
        confidence[kind] = [each.written.confidence for each in rows]
    areas: dict[QuestionKind, float] = {}
    for kind in kinds:
        area = auc(confidence.get("own", []), confidence[kind])
        if kind != "own" and area is not None:
            areas[kind] = area
    return Caution(
        asked={kind: len(rows) for kind, rows in kinds.items()},
        answered={kind: sum(each.answered for each in rows) / len(rows) for kind, rows in kinds.items()},
        auc=areas,
    )


def _mean(outcomes: Sequence[Outcome], value: Callable[[Outcome], float | None]) -> float | None:
    values = [float(found) for each in outcomes if (found := value(each)) is not None]
    return sum(values) / len(values) if values else None


def auc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """Return how often a score of the first kind is above one of the second, ties as half; None without both.

    That is the area under the ROC curve (Hanley and McNeil 1982).
    """
    if not higher or not lower:
        return None
    from scipy.stats import rankdata

    # The Mann-Whitney U statistic by ranks; tied scores share the mean of theirs.
    ranks = float(rankdata([*higher, *lower])[: len(higher)].sum())
    return (ranks - len(higher) * (len(higher) + 1) / 2) / (len(higher) * len(lower))


@dataclass(frozen=True, slots=True)
class Point:
    """What happens where every question of at least this confidence is answered."""

    threshold: float
    coverage: float
    risk: float


def risk_coverage(rows: Sequence[tuple[float, bool]]) -> list[Point]:
    """Return the curve, one point per distinct confidence, from the surest questions to all of them.

    Args:
        rows: Confidence in each question, and whether its answer is right.
    """
    points: list[Point] = []
    answered = wrong = 0
    for confidence, group in groupby(sorted(rows, key=itemgetter(0), reverse=True), key=itemgetter(0)):
        rights = [right for _, right in group]
        answered += len(rights)
        wrong += rights.count(False)
        points.append(Point(confidence, answered / len(rows), wrong / answered))
    return points


def area(points: Sequence[Point]) -> float:
    """Return the mean risk over all coverages (AURC); 0 is best, the risk of answering everything is no better."""
    total, before = 0.0, 0.0
    for point in points:
        total += (point.coverage - before) * point.risk
        before = point.coverage
    return total


def at_threshold(points: Sequence[Point], threshold: float) -> Point:
    """Return where a threshold lies on the curve: nothing is answered, at no risk, above every confidence."""
    answered = [point for point in points if point.threshold >= threshold]
    return answered[-1] if answered else Point(threshold, 0.0, 0.0)
