"""The command: send every kept reply of the real models through the graph, and print what a reader is shown of it.

    python -m evals.real --show right
    python -m evals.real --write
    python -m evals.real --judge-url URL

No model is needed but for `--judge-url`: what the models said is kept in `replies.jsonl`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from anabranch.errors import UserError
from benchmarks.report import shown
from evals.real.real_replies import FOLDER, RealReply, read_replies
from evals.real.report import ROWS, table
from evals.real.shown_reply import ShownReply, through_the_graph

PAGE = FOLDER.with_name("real.md")

Sender = Callable[[Iterable[RealReply]], Sequence[ShownReply]]


def main(arguments: Sequence[str] | None = None, *, send: Sender = through_the_graph) -> int:
    """Send, print, and write if asked to; exit code 2 with the reason where something is wrong with the files."""
    parser = argparse.ArgumentParser(prog="python -m evals.real", description="Measure the check of real replies.")
    add = parser.add_argument
    add(
        "--show",
        choices=ROWS,
        metavar="KIND",
        help=f"print the replies of a kind as they are graded: {', '.join(ROWS)}",
    )
    add("--judge-url", metavar="URL", help="an OpenAI-compatible server whose model judges the claims (verify: llm)")
    add("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: evals/{PAGE.name}")
    options = parser.parse_args(arguments)
    if options.judge_url:
        send = partial(through_the_graph, judge_url=options.judge_url)
    console = Console(width=None if sys.stdout.isatty() else 170, highlight=False, markup=False)
    try:
        found = send(read_replies())
    except UserError as error:
        console.print(f"{error.message} {error.hint}", style="red")
        return 2
    if options.show:
        _show([each for each in found if each.reply.kind == options.show], console)
    else:
        shown([table(found)], console, options.write)
    return 0


def _show(found: Iterable[ShownReply], console: Console) -> None:
    for each in found:
        reply = each.reply
        console.print(f"{reply.question.id} {reply.model} ({each.status}): {reply.question.question}")
        console.print(f"  {reply.question.document}: {reply.question.says or 'says nothing of it'}")
        console.print(f"  {reply.reply}\n" + "".join(f"    [?] {text}\n" for text in each.unconfirmed), end="")


if __name__ == "__main__":
    # Settings in the environment would change what is measured.
    for setting in [name for name in os.environ if name.startswith("ANABRANCH_")]:
        del os.environ[setting]
    raise SystemExit(main())
