"""What one configuration owes to others: so much better than the best of them, on each collection or on the mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from anabranch.evaluation.score_tables import Margin, Table

Kept = Literal["ok", "missed", "not checked"]
"""`not checked`: a collection or a configuration that it speaks of was not measured."""

ROUNDING = 1e-9

Columns = Mapping[str, Mapping[str, float]]
"""Collection to mean score of the first metric by configuration."""


@dataclass(frozen=True, slots=True)
class MarginCheck:
    """What became of a margin on one collection, or on `mean`.

    Attributes:
        margin: As the table has it.
        on: Collection, or `mean`.
        best: Which of the others is best there; empty where nothing was checked.
        measured: By how much the configuration is better than that one.
        verdict: Whether that is enough.
    """

    margin: Margin
    on: str
    best: str
    measured: float | None
    verdict: Kept


def margins_checked(table: Table, columns: Columns, *, absent: Sequence[str]) -> list[MarginCheck]:
    """Check the margins of a table on the collections that were measured.

    Args:
        table: With its margins.
        columns: What was measured.
        absent: Collections of the table that were not; their mean with the others is then unknown.
    """
    own = table.collections or tuple(columns)
    # A collection that was added for one run has no part in what the table says of the mean.
    rows = {"each": columns, "mean": {name: row for name, row in columns.items() if name in own}}
    return [check for margin in table.margins for check in _checked(margin, rows[margin.where], complete=not absent)]


def _checked(margin: Margin, columns: Columns, *, complete: bool) -> Iterator[MarginCheck]:
    needed = (margin.configuration, *margin.over)
    whole = {name: row for name, row in columns.items() if all(each in row for each in needed)}
    if margin.where == "each":
        for name, row in whole.items():
            yield _check(margin, name, row)
        if not whole:
            yield MarginCheck(margin, "each", "", None, "not checked")
    elif complete and columns and len(whole) == len(columns):
        yield _check(margin, "mean", {name: sum(row[name] for row in whole.values()) / len(whole) for name in needed})
    else:
        yield MarginCheck(margin, "mean", "", None, "not checked")


def _check(margin: Margin, on: str, scores: Mapping[str, float]) -> MarginCheck:
    best = max(margin.over, key=lambda name: scores[name])
    measured = scores[margin.configuration] - scores[best]
    return MarginCheck(margin, on, best, measured, "ok" if measured >= margin.by - ROUNDING else "missed")
