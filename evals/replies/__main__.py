"""The command: send every scripted reply through the whole graph, and print what a reader is shown of it.

    python -m evals.replies --show wrong
    python -m evals.replies --write
    python -m evals.replies --judge-url URL --write

No model is needed but for `--judge-url`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from rich.console import Console

from anabranch.errors import UserError
from benchmarks.report import shown
from evals.replies.judged_reply import FALSE_KINDS, JudgedReply, through_the_graph
from evals.replies.reply_set import FOLDER, KINDS, SPLITS, ScriptedQuestion, read_questions
from evals.replies.reply_tables import judged_table, tables

PAGE = FOLDER.with_name("replies.md")

Judge = Callable[[Iterable[ScriptedQuestion], str], Sequence[JudgedReply]]
"""Judges the replies to the questions of a split."""


def main(arguments: Sequence[str] | None = None, *, judge: Judge = through_the_graph) -> int:
    """Judge, print, and write if asked to; exit code 2 with the reason where something is wrong with what was given."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.write and (options.split or options.show):
        parser.error("a page has both splits: leave out --split and --show, or --write")
    if options.show and options.split == "test":
        parser.error("cases of test are not shown, as rules are chosen with those of dev in sight: leave out --split")
    if options.judge_url:
        judge = partial(through_the_graph, judge=_model_at(options.judge_url))
    splits = ["dev"] if options.show else [options.split] if options.split else SPLITS
    console = Console(width=None if sys.stdout.isatty() else 170, highlight=False, markup=False)
    try:
        found = [each for split in splits for each in judge(read_questions(FOLDER / split / "questions.jsonl"), split)]
    except UserError as error:
        console.print(f"{error.message} {error.hint}", style="red")
        return 2
    if options.show:
        _show(found, options.show, console)
    else:
        shown([judged_table(found)] if options.judge_url else tables(found), console, options.write)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.replies", description="Measure the check of whole replies.")
    add = parser.add_argument
    add("--split", choices=SPLITS, help="default: both")
    add("--show", choices=[*KINDS, "all"], metavar="KIND", help="print what went wrong in dev, of one kind or of 'all'")
    add("--judge-url", metavar="URL", help="an OpenAI-compatible server whose model judges the claims (verify: llm)")
    add("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: evals/{PAGE.name}")
    return parser


def _model_at(url: str) -> BaseChatModel:
    # A small model on a slow machine takes its time.
    return ChatOpenAI(
        model="local", base_url=url, api_key=SecretStr("none"), temperature=0, timeout=3600, max_retries=0
    )


def _show(found: Iterable[JudgedReply], kind: str, console: Console) -> None:
    for each in found:
        if kind in {each.kind, "all"} and not each.as_wanted:
            row = each.row
            was = f"{each.held} of {each.claims} claims held" if each.is_shown else "not found"
            console.print(
                f"{row.id} ({row.language}, {each.kind}; {was})\n  {row.question}\n  {row.replies[each.kind]}"
            )
            console.print(f"  {row.document}: {row.says or 'says nothing of it'}")
            if each.kind in FALSE_KINDS:
                console.print(f"  wrong: {row.wrong}")
            console.print("".join(f"    [?] {claim}\n" for claim in each.unconfirmed), end="")
            console.print("".join(f"    {claim}\n      <- {quote}\n" for claim, quote in each.cited), end="")


if __name__ == "__main__":
    # Settings in the environment would change what is measured.
    for setting in [name for name in os.environ if name.startswith("ANABRANCH_")]:
        del os.environ[setting]
    raise SystemExit(main())
