"""What each rule of the check moves: right and wrong claims that are accepted with it, and without.

    python -m evals.rules
    python -m evals.rules --write

On the halves that no rule was chosen by. No model is needed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import getsourcelines, isfunction
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from rich.console import Console

from anabranch.citations.passage_text import PassageText
from anabranch.citations.rules import RULES, Rule
from anabranch.citations.similarity import add_similar
from anabranch.citations.verification import attribute
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder
from benchmarks.report import Table, shown
from evals.claims.claim_set import ALIKE, FOLDER, LabelledClaim, read_claims
from evals.replies.judged_reply import FALSE_KINDS, TRUE_KINDS
from evals.replies.reply_set import FOLDER as REPLIES
from evals.replies.reply_set import read_questions
from evals.replies.shown_passages import shown_passages

PAGE = Path(__file__).with_name("claims.md")
BLIND = "test"


class Stated(NamedTuple):
    """A text that is true or false, with the passages that it is checked against."""

    text: str
    question: str
    passages: Mapping[int, PassageText]
    is_true: bool


def accepted(one: Stated, rules: Mapping[str, Rule]) -> bool:
    """Tell whether a reader is shown a text without a mark: of several claims each has to be held."""
    found = attribute(one.text, one.passages, one.question, rules=rules)
    claims = add_similar(found, load_embedder(DEFAULT_EMBEDDER)).set_markers().claims
    return bool(claims) and all(claim.grade != "not_confirmed" for claim in claims)


def table(sets: Mapping[str, Sequence[Stated]], rules: Mapping[str, Rule] = RULES) -> Table:
    """Return what each rule moves, one switched off at a time, on some sets by name."""
    variants = (
        {"none": rules} | {off: {n: rule for n, rule in rules.items() if n != off} for off in rules} | {"all": {}}
    )
    lines = own_lines(rules)
    heads = ("off", "own lines", *(f"{name}: {what}" for name in sets for what in ("true", "false")))
    rows = [
        (off, str(lines.get(off, "-")), *(cell for some in sets.values() for cell in _cells(some, kept)))
        for off, kept in variants.items()
    ]
    return Table("claims-rules", "Accepted, with a rule switched off", heads, tuple(rows))


def _cells(some: Sequence[Stated], rules: Mapping[str, Rule]) -> Iterator[str]:
    held = Counter(one.is_true for one in some if accepted(one, rules))
    whole = Counter(one.is_true for one in some)
    yield from (f"{held[is_true]} of {whole[is_true]}" for is_true in (True, False))


def own_lines(rules: Mapping[str, Rule]) -> dict[str, int]:
    """Return the lines of the functions that only this rule calls, by its name."""
    calls = {name: _called(rule) for name, rule in rules.items()}
    by = Counter(function for functions in calls.values() for function in functions)
    return {
        name: sum(len(getsourcelines(function)[0]) for function in functions if by[function] == 1)
        for name, functions in calls.items()
    }


def _called(rule: Callable[..., object]) -> set[Callable[..., object]]:
    found: set[Callable[..., object]] = set()
    left = [rule]
    while left:
        function = left.pop()
        if isfunction(function) and function not in found and function.__module__.startswith("anabranch.citations"):
            found.add(function)
            left += [function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__]
    return found


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def blind_sets() -> dict[str, list[Stated]]:
    """Return the blind halves: claims, claims about things that are said alike, and whole replies."""
    return {
        "claims": _of_claims(read_claims(FOLDER)),
        "alike": _of_claims(read_claims(ALIKE)),
        "replies": _of_replies(),
    }


def _of_claims(rows: Iterable[LabelledClaim]) -> list[Stated]:
    return [
        Stated(row.claim, row.question, dict(enumerate(row.passages, start=1)), row.label == "supported")
        for row in rows
        if row.split == BLIND
    ]


def _of_replies() -> list[Stated]:
    rows = read_questions(REPLIES / BLIND / "questions.jsonl")
    passages = shown_passages(rows, BLIND)
    return [
        Stated(reply, row.question, passages[row.id], kind in TRUE_KINDS)
        for row in rows
        for kind, reply in row.replies.items()
        if kind in (*TRUE_KINDS, *FALSE_KINDS)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(prog="python -m evals.rules", description="Measure the rules of the check.")
    parser.add_argument("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: evals/{PAGE.name}")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 170, highlight=False, markup=False)
    shown([table(blind_sets())], console, options.write)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
