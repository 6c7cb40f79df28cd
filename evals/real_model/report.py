"""Results as tables: one line per route, and one per answer; what each answer says is in the file of `--kept`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.report import Table
from evals.real_model.asking import ROUTES, Result

COLUMNS = (
    "route", "questions", "holds the answer", "false abstentions", "abstains, unanswerable", "abstains, absent",
    "claims supported", "citations quoted", "degraded", "calls", "prompt tokens", "output tokens", "CPU s",
)  # fmt: skip
ANSWERS = ("question", "kind", "route", "holds it", "answer")
NOTHING = "-"


def tables(results: Sequence[Result]) -> list[Table]:
    """Return the table of the routes, and that of the answers."""
    routes = [route for route in ROUTES if any(result.route == route for result in results)]
    rows = [_row(route, [result for result in results if result.route == route]) for route in routes]
    answers = sorted(results, key=lambda result: (result.kind, result.question, list(ROUTES).index(result.route)))
    return [
        Table("real-model-routes", "Whole answers, by route", COLUMNS, tuple(rows)),
        Table("real-model-answers", "Every answer", ANSWERS, tuple(map(_answer, answers))),
    ]


def _row(route: str, results: Sequence[Result]) -> tuple[str, ...]:
    can = [result for result in results if result.kind == "answerable"]
    given = [result for result in results if not result.abstained]
    return (
        route,
        str(len(results)),
        _of(result.contains for result in can),
        _of(result.abstained for result in can),
        *(_of(r.abstained for r in results if r.kind == kind) for kind in ("unanswerable", "absent")),
        _share(sum(r.supported for r in given), sum(r.claims for r in given)),
        _share(sum(r.quoted for r in given), sum(r.citations for r in given)),
        str(sum(bool(result.degraded) for result in results)),
        *(_mean([getattr(r, name) for r in results]) for name in ("calls", "prompt", "output", "cpu")),
    )


def _of(truths: Iterable[bool]) -> str:
    found = list(truths)
    return f"{sum(found)} of {len(found)}" if found else NOTHING


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.2f}" if whole else NOTHING


def _mean(values: Sequence[float]) -> str:
    mean = sum(values) / len(values)
    return f"{mean:.1f}" if mean < 100 else f"{mean:,.0f}"


def _answer(result: Result) -> tuple[str, ...]:
    # How long it is, and not what it says: the words may be those of a document that is not ours to print.
    said = "abstains" if result.abstained else f"{len(result.answer.split())} words"
    held = ("yes" if result.contains else "no") if result.kind == "answerable" else NOTHING
    return (result.question, result.kind, result.route, held, said)
