"""The report of a judged table: scores of answers, and which of two configurations is better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from anabranch_evaluation.answer_judge import MEASURES, Comparison, Judged
from anabranch_evaluation.eval_report import EvalReport, ReportTable, number
from anabranch_evaluation.score_tables import JudgedTable

COMPARISONS: tuple[Comparison, ...] = get_args(Comparison)


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """The judgement of one answer of one configuration.

    Attributes:
        answer: The answer; empty for an abstention, which is not judged.
        reference: The known answer; empty where none is known.
        scores: 1 to 5; None where a reply could not be read, or there is no reference.
        similarity: Cosine of the answer and the reference; None where one is missing.
        compared: Result against the baseline's answer; None where one is missing, or this is the baseline.
    """

    collection: str
    configuration: str
    question: str
    text: str
    answer: str
    reference: str
    scores: Mapping[Judged, float | None]
    similarity: float | None = None
    compared: Comparison | None = None

    @property
    def unread(self) -> int:
        """Number of judgements that could not be read."""
        wanted: list[Judged] = [
            name for name in MEASURES if name in self.scores and (name != "correctness" or self.reference)
        ]
        return sum(self.scores[name] is None for name in wanted) + (self.compared == "not judged")


@dataclass(frozen=True, slots=True)
class JudgeUsage:
    """The judge's model, and its usage."""

    model: str
    calls: int
    prompt_tokens: int
    output_tokens: int


def judged_report(
    table: JudgedTable,
    answers: Sequence[JudgedAnswer],
    usage: JudgeUsage,
    absent: tuple[str, ...],
    remarks: tuple[tuple[str, str], ...] = (),
) -> EvalReport:
    """Make the report."""
    groups: dict[tuple[str, str], list[JudgedAnswer]] = {}
    for each in answers:
        groups.setdefault((each.collection, each.configuration), []).append(each)
    found = {place: _measures(rows) for place, rows in groups.items()}
    value = {
        "title": table.title,
        "judge": asdict(usage),
        "scores": [{"collection": where, "configuration": name, **of} for (where, name), of in found.items()],
        "absent": list(absent),
        "checks": [],
    }
    tables = (_scores(found, usage), _comparison(found, table.compared_with))
    return EvalReport(table, tables, (), remarks, absent, value, [asdict(each) for each in answers])


def _measures(rows: Sequence[JudgedAnswer]) -> dict[str, Any]:
    """Return means over the judged answers, None where there are none, and counts."""
    # An abstention is not compared, so it counts for neither side.
    counts = Counter(row.compared for row in rows)
    return {
        "questions": len(rows),
        "answered": _mean(float(bool(row.answer)) for row in rows),
        **{name: _mean(row.scores.get(name) for row in rows) for name in MEASURES},
        "similarity": _mean(row.similarity for row in rows),
        # The more judgements are missing, the less the means say.
        "not_judged": sum(row.unread for row in rows),
        "compared": {name: counts[name] for name in COMPARISONS if any(row.compared for row in rows)},
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _scores(found: Mapping[tuple[str, str], Mapping[str, Any]], usage: JudgeUsage) -> ReportTable:
    rows = [
        (
            *place, str(of["questions"]), number(of["answered"]), *(number(of[name]) for name in MEASURES),
            number(of["similarity"]), str(of["not_judged"]),
        )
        for place, of in found.items()
    ]  # fmt: skip
    return ReportTable(
        "What the judge says",
        f"Means from 1 to 5 by {usage.model}, which was asked {usage.calls} times. Abstentions are not judged, and "
        "count in `answered` alone; `not judged` are replies that could not be read, which are in no mean. "
        "`similarity`: cosine of answer and reference by the corpus's embedder, without a judge.",
        ("collection", "configuration", "questions", "answered", *MEASURES, "similarity", "not judged"),
        rows,
    )


def _comparison(found: Mapping[tuple[str, str], Mapping[str, Any]], baseline: str) -> ReportTable:
    rows = [
        (*place, *(str(of["compared"][name]) for name in COMPARISONS)) for place, of in found.items() if of["compared"]
    ]
    return ReportTable(
        f"Which answer is better? Against {baseline}",
        "Where both answered, the judge was shown both in both orders: an answer has won only where it is the better "
        "one in both. `orders differ`: what stands first, or second, was preferred.",
        ("collection", "configuration", *COMPARISONS),
        rows,
    )
