"""What the checks made of the claims, as tables: in all, by language, by class, and of wrong twins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from benchmarks.report import Table
from evals.claims.claim_set import LABELS, LabelledClaim
from evals.claims.grading import GRADES, Grade

NOTHING = "-"
CHECKS = (
    "check", "claims", "split", "accepted", "precision", "recall", "precision of quoted", "contradicted let through",
    "not said let through",
)  # fmt: skip
LANGUAGES = ("check", "language", "claims", "precision", "recall", "contradicted let through")
CLASSES = ("label", "class", "claims")
ALIKE = ("label", "class", "split")
TWINS = ("twins of", "kind", "twins")


class CheckedClaim(NamedTuple):
    """A claim with its grade by each check."""

    row: LabelledClaim
    grades: Mapping[str, Grade]

    def accepted(self, check: str) -> bool:
        """Whether a reader would be shown it as held."""
        return self.grades[check] != "not_confirmed"

    def right(self, check: str) -> bool:
        """Whether the check does with it what its label asks for."""
        return self.accepted(check) == (self.row.label == "supported")


def tables(
    rows: Sequence[CheckedClaim], twins: Mapping[str, Sequence[CheckedClaim]], alike: Sequence[CheckedClaim]
) -> list[Table]:
    """Return the five tables.

    Args:
        rows: The labelled claims, at least one.
        twins: The wrong twins, by what they were made of.
        alike: Claims about things that are said alike beside each other.
    """
    checks = list(rows[0].grades)
    return [
        Table("claims-checks", "Claims, by check", CHECKS, tuple(_checks(rows, checks))),
        Table("claims-languages", "Claims, by language", LANGUAGES, tuple(_languages(rows, checks))),
        Table("claims-classes", "Claims, by class", (*CLASSES, *_graded(checks)), tuple(_classes(rows, checks))),
        Table("claims-alike", "Things said alike: accepted", (*ALIKE, *checks), tuple(_alike(alike, checks))),
        Table("claims-twins", "Wrong twins let through", (*TWINS, *checks), tuple(_twins(twins, checks))),
    ]


def _checks(rows: Sequence[CheckedClaim], checks: Sequence[str]) -> Iterable[tuple[str, ...]]:
    for check in checks:
        for split, some in _groups(rows, lambda each: each.row.split):
            accepted = [each for each in some if each.accepted(check)]
            quoted = [each for each in some if each.grades[check] == "quoted"]
            yield (
                check,
                str(len(some)),
                split,
                str(len(accepted)),
                *_precision_and_recall(some, check),
                _share(_with_label(quoted, "supported"), quoted),
                *(_let_through(some, label, check) for label in LABELS[1:]),
            )


def _languages(rows: Sequence[CheckedClaim], checks: Sequence[str]) -> Iterable[tuple[str, ...]]:
    for check in checks:
        for language, some in _groups(rows, lambda each: each.row.language):
            let_through = _let_through(some, "contradicted", check)
            yield check, language, str(len(some)), *_precision_and_recall(some, check), let_through


def _classes(rows: Sequence[CheckedClaim], checks: Sequence[str]) -> Iterable[tuple[str, ...]]:
    for label in LABELS:
        for kind, some in _groups(_with_label(rows, label), lambda each: each.row.kind):
            counts = [[each.grades[check] for each in some].count(grade) for check in checks for grade in GRADES]
            yield label, kind, str(len(some)), *map(str, counts)


def _graded(checks: Sequence[str]) -> list[str]:
    return [f"{check}: {grade}" for check in checks for grade in GRADES]


def _twins(twins: Mapping[str, Sequence[CheckedClaim]], checks: Sequence[str]) -> Iterable[tuple[str, ...]]:
    for source, rows in twins.items():
        for kind, some in _groups(rows, lambda each: each.row.kind):
            yield source, kind, str(len(some)), *(_let_through(some, "contradicted", check) for check in checks)


def _alike(rows: Sequence[CheckedClaim], checks: Sequence[str]) -> Iterable[tuple[str, ...]]:
    for label in LABELS[:2]:
        own = _with_label(rows, label)
        for split, some in _groups(own, lambda each: each.row.split):
            for kind, few in [*_groups(some, lambda each: each.row.kind), ("all", some)]:
                yield label, kind, split, *(_let_through(few, label, check) for check in checks)


def _precision_and_recall(rows: Sequence[CheckedClaim], check: str) -> tuple[str, str]:
    accepted = [each for each in rows if each.accepted(check)]
    held = _with_label(accepted, "supported")
    return _share(held, accepted), _share(held, _with_label(rows, "supported"))


def _let_through(rows: Sequence[CheckedClaim], label: str, check: str) -> str:
    some = _with_label(rows, label)
    return f"{sum(each.accepted(check) for each in some)} of {len(some)}" if some else NOTHING


def _with_label(rows: Iterable[CheckedClaim], label: str) -> list[CheckedClaim]:
    return [each for each in rows if each.row.label == label]


def _groups(
    rows: Iterable[CheckedClaim], key: Callable[[CheckedClaim], str]
) -> Iterable[tuple[str, list[CheckedClaim]]]:
    groups: dict[str, list[CheckedClaim]] = {}
    for each in rows:
        groups.setdefault(key(each), []).append(each)
    return sorted(groups.items())


def _share(part: Sequence[object], whole: Sequence[object]) -> str:
    return f"{len(part) / len(whole):.2f}" if whole else NOTHING
