"""Measured scores beside the expected ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from anabranch.evaluation.score_tables import Case, Table

Verdict = Literal["ok", "drift", "not checked", "not here"]
"""`not checked`: nothing is expected yet; `not here`: the collection is not on this machine."""

ROUNDING = 1e-9

Means = Mapping[tuple[str, str], Mapping[str, float]]
"""Collection and configuration to mean score by metric."""


@dataclass(frozen=True, slots=True)
class Check:
    """What became of one case; `index` is its place in the table."""

    index: int
    case: Case
    tolerance: float
    measured: float | None
    verdict: Verdict


def checked(table: Table, means: Means, *, absent: frozenset[str]) -> list[Check]:
    """Return a check of each case that was to be measured, in the order of the table.

    A score above what is expected is drift, too: the table is then out of date, and the next fall would go unseen.

    Args:
        table: With its cases.
        means: What was measured.
        absent: Collections that are not here.
    """
    checks = []
    for index, case in enumerate(table.cases):
        measured = means.get((case.collection, case.configuration), {}).get(case.metric)
        if measured is not None or case.collection in absent:
            tolerance = table.tolerance_of(case)
            checks.append(Check(index, case, tolerance, measured, _verdict(case, measured, tolerance)))
    return checks


def _verdict(case: Case, measured: float | None, tolerance: float) -> Verdict:
    if measured is None:
        return "not here"
    if case.expected is None:
        return "not checked"
    return "ok" if abs(measured - case.expected) <= tolerance + ROUNDING else "drift"
