"""Results as tables: one line per system, one table per split; what each answer says is in the file of `--kept`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.report import Table
from evals.synthesis.packs import XQUAD
from evals.synthesis.systems import SYSTEMS

COLUMNS = (
    "system", "contains the answer", "false abstentions", "wrong", "unanswerable refused", "absent refused", "calls",
    "prompt tokens", "output tokens",
)  # fmt: skip
NOTHING = "-"
SPLITS = ("dev", "test")
PARAGRAPH = "paragraph"
"""The table of the questions about one paragraph, which all are *test*."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one system made of one question.

    Attributes:
        id: Of the question.
        set: Its collection.
        split: See `Pack`.
        kind: See `Pack`.
        system: Its name.
        answer: What it says.
        contains: Whether that holds the answer.
        abstained: Whether it gives none.
        calls: Requests for a chat reply.
        prompt_tokens: Of all of them.
        output_tokens: Of all of them.
        degraded: Steps that could not do their best, where the system says so.
    """

    id: str
    set: str
    split: str
    kind: str
    system: str
    answer: str
    contains: bool
    abstained: bool
    calls: int
    prompt_tokens: int
    output_tokens: int
    degraded: tuple[str, ...] = ()


def tables(results: Sequence[Result]) -> list[Table]:
    """Return the table of each split, and of the questions about one paragraph, where something was asked.

    Systems that were asked nothing have no line.
    """
    groups: dict[str, list[Result]] = {name: [] for name in (*SPLITS, PARAGRAPH)}
    for result in results:
        groups[PARAGRAPH if result.set.startswith(XQUAD) else result.split].append(result)
    return [_table(name, group) for name, group in groups.items() if group]


def _table(name: str, results: Sequence[Result]) -> Table:
    rows = [_row(system, [result for result in results if result.system == system]) for system in SYSTEMS]
    return Table(f"synthesis-{name}", f"Answers from the same passages: {name}", COLUMNS, tuple(filter(None, rows)))


def _row(system: str, results: Sequence[Result]) -> tuple[str, ...]:
    if not results:
        return ()
    can = [result for result in results if result.kind == "answerable"]
    return (
        system,
        _of(result.contains for result in can),
        _of(result.abstained for result in can),
        _of(not (result.contains or result.abstained) for result in can),
        *(_of(result.abstained for result in results if result.kind == kind) for kind in ("unanswerable", "absent")),
        *(_mean([getattr(result, name) for result in results]) for name in ("calls", "prompt_tokens", "output_tokens")),
    )


def _of(truths: Iterable[bool]) -> str:
    found = list(truths)
    return f"{sum(found)} of {len(found)}" if found else NOTHING


def _mean(values: Sequence[float]) -> str:
    mean = sum(values) / len(values)
    return f"{mean:.1f}" if mean < 100 else f"{mean:,.0f}"
