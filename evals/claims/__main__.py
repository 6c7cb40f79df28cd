"""The command: have every labelled claim checked, and print how often the check was right.

    python -m evals.claims --show negation
    python -m evals.claims --questions QUESTIONS.jsonl --documents DOCUMENT... --write

No model is needed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from rich.console import Console

from anabranch.errors import UserError
from benchmarks.report import for_terminal, regenerated
from evals.claims.claim_set import ALIKE, SPLITS, LabelledClaim, read_claims
from evals.claims.grading import Checker, by_check, graded
from evals.claims.questions import read_questions
from evals.claims.report import CheckedClaim, tables
from evals.claims.wrong_twins import of_questions, twins

PAGE = Path(__file__).parent.with_name("claims.md")


CHECKERS: Mapping[str, Checker] = MappingProxyType({"Anabranch": by_check})


def main(arguments: Sequence[str] | None = None, *, checkers: Mapping[str, Checker] = CHECKERS) -> int:
    """Check, print, and write if asked to; exit code 2 with the reason where something is wrong with what was given."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.write and options.split:
        parser.error("a page has both splits: leave out --split or --write")
    console = Console(width=None if sys.stdout.isatty() else 170, highlight=False, markup=False)
    try:
        claims = [row for row in read_claims() if options.split in {None, row.split}]
        said_alike = [row for row in read_claims(ALIKE) if options.split in {None, row.split}]
        sources = {"claims": claims, "questions": _answers(options)}
    except UserError as error:
        console.print(f"{error.message} {error.hint}", style="red")
        return 2

    def checked(rows: Iterable[LabelledClaim]) -> list[CheckedClaim]:
        return [CheckedClaim(row, {name: graded(row, check) for name, check in checkers.items()}) for row in rows]

    rows, alike = checked(claims), checked(said_alike)
    swapped = {source: checked(twins(right)) for source, right in sources.items() if right}
    found = tables(rows, swapped, alike)
    if options.show:
        _show([*rows, *alike, *(each for some in swapped.values() for each in some)], options.show, checkers, console)
    else:
        for table in found:
            console.print(for_terminal(table))
    if options.write:
        options.write.write_text(regenerated(options.write.read_text("utf-8"), found), "utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.claims", description="Measure the check of citations.")
    add = parser.add_argument
    add("--split", choices=SPLITS, help="default: both")
    add(
        "--questions", type=Path, help="JSONL: id, doc, text, answer, evidence_regex; more wrong twins are made of them"
    )
    add("--documents", type=Path, nargs="+", default=[], help="where the answers to the questions stand")
    add("--show", metavar="CLASS", help="print what was judged wrongly, of one class or kind of twins, or of 'all'")
    add("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: evals/{PAGE.name}")
    return parser


def _answers(options: argparse.Namespace) -> list[LabelledClaim]:
    if not options.questions:
        return []
    return of_questions(read_questions(options.questions, options.documents), options.documents)


def _show(rows: Iterable[CheckedClaim], kind: str, checkers: Mapping[str, Checker], console: Console) -> None:
    (*_, checker) = checkers.values()
    for each in rows:
        row, wrong = each.row, [f"{check}: {grade}" for check, grade in each.grades.items() if not each.right(check)]
        if wrong and kind in {row.kind, "all"}:
            console.print(f"{row.id} ({row.label}, {row.kind}; {', '.join(wrong)})\n  {row.question}\n  {row.claim}")
            spans = (span for found in checker(row.claim, row.passages, row.question) for span in found.spans)
            console.print("".join(f"    <- {span}\n" for span in spans), end="")


if __name__ == "__main__":
    raise SystemExit(main())
