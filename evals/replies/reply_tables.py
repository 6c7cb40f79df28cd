"""What the graph made of the replies, as tables: by kind, and by language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchmarks.report import Table
from evals.replies.judged_reply import FALSE_KINDS, TRUE_KINDS, JudgedReply

NOTHING = "-"
MEASURES: dict[tuple[str, str], Callable[[JudgedReply], bool]] = {
    ("right", "shown"): lambda each: each.is_shown,
    ("right", "unmarked"): lambda each: each.is_unmarked,
    ("longer", "shown"): lambda each: each.is_shown,
    ("longer", "unmarked"): lambda each: each.is_unmarked,
    ("wrong", "unmarked"): lambda each: each.is_unmarked,
    ("invented", "unmarked"): lambda each: each.is_unmarked,
    ("refusal", "not found"): lambda each: not each.is_shown,
    ("refusal_and_aside", "not found"): lambda each: not each.is_shown,
}
"""What is counted of each kind: what a reader sees of it."""

OF_A_JUDGE = tuple(measure for measure in MEASURES if measure[0] in (*TRUE_KINDS, *FALSE_KINDS))


def tables(found: Sequence[JudgedReply]) -> list[Table]:
    """Return both tables."""
    splits, by_split = _by_split(found)
    rows = [*_rows(MEASURES, by_split), ("longer", "claims held", *map(_held, by_split))]
    languages = ("split", "language", *map(": ".join, MEASURES), "longer: claims held")
    return [
        Table("replies-kinds", "Replies, by kind", ("kind", "counted", *splits), tuple(rows)),
        Table("replies-languages", "Replies, by language", languages, tuple(_languages(splits, by_split))),
    ]


def judged_table(found: Sequence[JudgedReply]) -> Table:
    """Return what the graph made of true and false replies with a model as the judge."""
    splits, by_split = _by_split(found)
    rows = _rows(OF_A_JUDGE, by_split)
    return Table("replies-judged", "With a model as the judge", ("kind", "counted", *splits), tuple(rows))


def _by_split(found: Sequence[JudgedReply]) -> tuple[list[str], list[list[JudgedReply]]]:
    splits = list(dict.fromkeys(each.split for each in found))
    return splits, [[each for each in found if each.split == split] for split in splits]


def _rows(measures: Iterable[tuple[str, str]], by_split: Sequence[Sequence[JudgedReply]]) -> list[tuple[str, ...]]:
    return [(*measure, *(_counted(some, measure) for some in by_split)) for measure in measures]


def _languages(splits: Sequence[str], by_split: Sequence[Sequence[JudgedReply]]) -> Iterable[tuple[str, ...]]:
    for split, some in zip(splits, by_split, strict=True):
        for language in sorted({each.row.language for each in some}):
            few = [each for each in some if each.row.language == language]
            yield split, language, *(_counted(few, measure) for measure in MEASURES), _held(few)


def _counted(some: Iterable[JudgedReply], measure: tuple[str, str]) -> str:
    own = [each for each in some if each.kind == measure[0]]
    return _of(sum(map(MEASURES[measure], own)), len(own))


def _held(some: Iterable[JudgedReply]) -> str:
    own = [each for each in some if each.kind == "longer"]
    return _of(sum(each.held for each in own), sum(each.claims for each in own))


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else NOTHING
