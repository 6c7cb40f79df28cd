"""The command: have the claims of public benchmarks checked, and print how well supported ones are told from others.

    python -m evals.attribution FOLDER --write

No model is needed. `evals/attribution.md` says where the files of the folder come from.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from anabranch.errors import UserError
from benchmarks.report import Table, shown
from evals.attribution.benchmarks import AttributedClaim, read_benchmarks, read_scores
from evals.attribution.scoring import CHECK, SCORERS, Scored, Scorer, area, balanced_accuracy, by_others, scored

PAGE = Path(__file__).parent.with_name("attribution.md")
COLUMNS = ("set", "by", "supported", "others", "AUC", "balanced accuracy", "supported accepted", "others accepted")
ABOVE = 0.5
"""Score of others above which a claim counts as accepted by them."""


def main(arguments: Sequence[str] | None = None, *, scorers: Mapping[str, Scorer] = SCORERS) -> int:
    """Check, print, and write if asked to; exit code 2 with the reason where something is wrong with what was given."""
    parser = argparse.ArgumentParser(prog="python -m evals.attribution", description="Measure the check of claims.")
    parser.add_argument("folder", type=Path, help="with files of WiCE or BEGIN")
    parser.add_argument("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: evals/{PAGE.name}")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 170, highlight=False, markup=False)
    try:
        claims, others = read_benchmarks(options.folder), read_scores(options.folder)
    except UserError as error:
        console.print(f"{error.message} {error.hint}", style="red")
        return 2
    by_set: dict[str, list[AttributedClaim]] = {}
    for claim in claims:
        by_set.setdefault(claim.set, []).append(claim)
    rows = [row for name, own in by_set.items() for row in _rows(name, own, scorers, others)]
    shown([Table("attribution", "Claims of public benchmarks", COLUMNS, tuple(rows))], console, options.write)
    return 0


def _rows(
    name: str,
    claims: Sequence[AttributedClaim],
    scorers: Mapping[str, Scorer],
    others: Mapping[str, Mapping[str, float]],
) -> Iterator[tuple[str, ...]]:
    own = {by: scored(claims, scorer) for by, scorer in scorers.items()}
    for by, found in own.items():
        yield _row(name, by, found.values())
    for by, scores in others.items():
        if theirs := by_others(claims, scores, ABOVE):
            part = f"{name}, {len(theirs)} of them"
            yield _row(part, by, theirs.values())
    # Ours once more, on the claims that others have a score for.
    if CHECK in own and (judged := {key for scores in others.values() for key in scores} & set(own[CHECK])):
        yield _row(f"{name}, {len(judged)} of them", CHECK, [own[CHECK][key] for key in sorted(judged)])


def _row(name: str, by: str, claims: Iterable[Scored]) -> tuple[str, ...]:
    found = list(claims)
    true, false = ([each for each in found if each.is_supported is wanted] for wanted in (True, False))
    accepted = (f"{sum(each.accepted for each in some)} of {len(some)}" for some in (true, false))
    return (name, by, str(len(true)), str(len(false)), _share(area(found)), _share(balanced_accuracy(found)), *accepted)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    raise SystemExit(main())
