"""What the graph made of the replies, as tables: by kind, and by language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchmarks.report import Table
from evals.replies.judged_reply import FALSE_KINDS, TRUE_KINDS, JudgedReply

NOTHING = "-"
COUNTED = {
    "right": "accepted",
    "longer": "accepted",
    "wrong": "refused",
    "invented": "refused",
    "refusal": "an abstention",
    "refusal_and_aside": "an abstention",
}
"""What is counted of each kind; the page says when a reply is accepted, and when refused."""


def tables(found: Sequence[JudgedReply]) -> list[Table]:
    """Return both tables."""
    splits, by_split = _by_split(found)
    kinds = _kinds(COUNTED, by_split)
    kinds += [(*name, *map(count, by_split)) for name, count in _FURTHER.items()]
    languages = ("split", "language", *COUNTED, *map(": ".join, _FURTHER))
    return [
        Table("replies-kinds", "Replies, by kind", ("kind", "counted", *splits), tuple(kinds)),
        Table("replies-languages", "Replies, by language", languages, tuple(_languages(splits, by_split))),
    ]


def judged_table(found: Sequence[JudgedReply]) -> Table:
    """Return what the graph made of true and false replies with a model as the judge."""
    splits, by_split = _by_split(found)
    rows = _kinds((*TRUE_KINDS, *FALSE_KINDS), by_split)
    return Table("replies-judged", "With a model as the judge", ("kind", "counted", *splits), tuple(rows))


def _by_split(found: Sequence[JudgedReply]) -> tuple[list[str], list[list[JudgedReply]]]:
    splits = list(dict.fromkeys(each.split for each in found))
    return splits, [[each for each in found if each.split == split] for split in splits]


def _kinds(kinds: Iterable[str], by_split: Sequence[Sequence[JudgedReply]]) -> list[tuple[str, ...]]:
    return [(kind, COUNTED[kind], *(_as_wanted(some, kind) for some in by_split)) for kind in kinds]


def _languages(splits: Sequence[str], by_split: Sequence[Sequence[JudgedReply]]) -> Iterable[tuple[str, ...]]:
    for split, some in zip(splits, by_split, strict=True):
        for language in sorted({each.row.language for each in some}):
            few = [each for each in some if each.row.language == language]
            yield (
                split,
                language,
                *(_as_wanted(few, kind) for kind in COUNTED),
                *(count(few) for count in _FURTHER.values()),
            )


def _as_wanted(some: Iterable[JudgedReply], kind: str) -> str:
    own = [each for each in some if each.kind == kind]
    return _of(sum(each.as_wanted for each in own), len(own))


def _held(some: Iterable[JudgedReply]) -> str:
    own = [each for each in some if each.kind == "longer"]
    return _of(sum(each.held for each in own), sum(each.claims for each in own))


def _abstentions(some: Iterable[JudgedReply]) -> str:
    own = [each for each in some if each.kind in TRUE_KINDS]
    return _of(sum(each.abstained for each in own), len(own))


_FURTHER: dict[tuple[str, str], Callable[[Iterable[JudgedReply]], str]] = {
    ("longer", "claims held"): _held,
    ("right and longer", "an abstention"): _abstentions,
}


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else NOTHING
