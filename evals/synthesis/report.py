"""Results as tables: one line per system, one table per split; what each answer says is in the file of `--kept`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.report import Table
from evals.synthesis.packs import XQUAD
from evals.synthesis.systems import SYSTEMS

COLUMNS = (
    "system", "contains the answer", "false abstentions", "wrong", "unanswerable refused", "absent refused", "calls",
    "prompt tokens", "output tokens",
)  # fmt: skip
MARKS = (
    "system", "right: shown", "right: unmarked", "wrong: shown", "wrong: unmarked", "unanswerable: refused",
    "unanswerable: marked", "unanswerable: unmarked",
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
        marked: Whether the reader is told that some of it is not confirmed.
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
    marked: bool = False


def tables(results: Sequence[Result]) -> list[Table]:
    """Return two tables of each split, and of the questions about one paragraph, where something was asked.

    The first compares the systems, the second says what a reader of Anabranch is warned of; no other system marks what
    it says. Systems that were asked nothing have no line.
    """
    groups: dict[str, list[Result]] = {name: [] for name in (*SPLITS, PARAGRAPH)}
    for result in results:
        groups[PARAGRAPH if result.set.startswith(XQUAD) else result.split].append(result)
    asked = {name: group for name, group in groups.items() if group}
    return [_table(name, group) for name, group in asked.items()] + [_marks(*each) for each in asked.items()]


def _table(name: str, results: Sequence[Result]) -> Table:
    title = f"Answers from the same passages: {name}"
    return Table(f"synthesis-{name}", title, COLUMNS, _lines(results, _row))


def _marks(name: str, results: Sequence[Result]) -> Table:
    own = [result for result in results if result.system.startswith("Anabranch")]
    return Table(f"synthesis-{name}-marks", f"What the reader is warned of: {name}", MARKS, _lines(own, _marked))


def _lines(
    results: Sequence[Result], row: Callable[[str, Sequence[Result]], tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    rows = [row(system, [result for result in results if result.system == system]) for system in SYSTEMS]
    return tuple(filter(None, rows))


def _marked(system: str, results: Sequence[Result]) -> tuple[str, ...]:
    if not results:
        return ()
    can = [result for result in results if result.kind == "answerable"]
    wrong = [not (result.contains or result.abstained) for result in can]
    others = [result for result in results if result.kind != "answerable"]
    return (
        system,
        _of(result.contains for result in can),
        _of(result.contains and not result.marked for result in can),
        _of(wrong),
        _of(is_wrong and not result.marked for is_wrong, result in zip(wrong, can, strict=True)),
        _of(result.abstained for result in others),
        _of(result.marked and not result.abstained for result in others),
        _of(not (result.marked or result.abstained) for result in others),
    )


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
