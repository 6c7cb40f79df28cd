"""The command: ask questions of made papers with and without the filters that a played model proposes.

    python -m evals.filters --write
    python -m evals.filters --model openai:NAME --base-url URL --questions 4

The first needs no model: it measures what the program does with a proposal, right or wrong. The second asks a model for
its proposals, and prints them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from rich.console import Console

from anabranch import answer, ingest
from anabranch.agent.prompts import REWRITE
from benchmarks.report import Table, shown
from evals.filters.made_papers import GROUPS, FilterQuestion, make_papers, make_questions
from evals.scripted_chat import ScriptedChat

PAGE = Path(__file__).parent.with_suffix(".md")
SEED = 36
TOP, ALL = 5, 24
"""Places of the ranking that are counted: the first ones, and all that are kept by default."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write if asked to."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 170, highlight=False, markup=False)
    with TemporaryDirectory(prefix="anabranch-filters-") as folder:
        corpus, questions = _make_corpus(Path(folder))
        if options.model:
            for question in questions[: options.questions]:
                settings = {"model": options.model, "base_url": options.base_url, "model_timeout": 3_600.0}
                # The answer is not what is measured: few tokens are read and written for it.
                found = answer(question.text, corpus=corpus, infer_filter=True, top_k=3, answer_tokens=16, **settings)
                told = [each["reason"] for each in found["degraded"]]
                console.print(question.text, f"  stated: {question.proposed}", f"  filter: {found['inferred_filter']}")
                console.print(f"  told: {told}")
            return 0
        results = [_measure(question, corpus) for question in questions]
    shown([_table(results)], console, options.write)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.filters", description="Measure inferred filters.")
    parser.add_argument("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: evals/{PAGE.name}")
    parser.add_argument("--model", help="a chat model, whose proposals are printed")
    parser.add_argument("--base-url", help="its server")
    parser.add_argument("--questions", type=int, default=4, help="how many it is asked")
    return parser


def _make_corpus(folder: Path) -> tuple[Path, list[FilterQuestion]]:
    papers = make_papers(random.Random(SEED))  # noqa: S311
    told = ("id", "title", "text", "kind", "year", "department")
    lines = [json.dumps({name: paper[name] for name in told}) + "\n" for paper in papers]
    (folder / "papers.jsonl").write_text("".join(lines), encoding="utf-8")
    ingest(folder / "papers.jsonl", folder / "corpus")
    return folder / "corpus", list(make_questions(papers, random.Random(SEED + 1)))  # noqa: S311


def _propose(proposed: str) -> Callable[[Sequence[BaseMessage]], AIMessage]:
    """Return a script that proposes a filter where queries are asked for, and writes no query."""
    queries = REWRITE["multi"].partition(".")[0]

    def script(messages: Sequence[BaseMessage]) -> AIMessage:
        is_queries = messages[0].text.startswith(queries)
        return AIMessage((f"ONLY: {proposed}" if proposed else "NONE") if is_queries else "It is said there.")

    return script


def _measure(question: FilterQuestion, corpus: Path) -> tuple[FilterQuestion, dict[str, Any], dict[str, Any]]:
    """Return a question and what was found without its filter, and with it."""
    model = ScriptedChat(script=_propose(question.proposed))
    # One round, so that the filter alone makes the difference.
    without, narrowed = [
        answer(question.text, corpus=corpus, model=model, infer_filter=infer, rounds=1, merge_threshold=1.0)
        for infer in (False, True)
    ]
    return question, without, narrowed


def _hits(question: FilterQuestion, result: dict[str, Any], most: int) -> int:
    found = {passage["source"].partition("#")[2] for passage in result["passages"][:most]}
    return len(found & question.gold)


def _recall(question: FilterQuestion, result: dict[str, Any], most: int) -> float:
    return _hits(question, result, most) / min(most, len(question.gold))


def _table(results: Sequence[tuple[FilterQuestion, dict[str, Any], dict[str, Any]]]) -> Table:
    columns = ("proposed", "questions", "stood", "taken away", "left out", *_pairs(TOP), *_pairs(ALL), "fewer hits")
    return Table("filters", "Filters from questions", columns, tuple(_rows(results)))


def _pairs(most: int) -> tuple[str, str]:
    return f"recall {most} without", "with"


def _rows(results: Sequence[tuple[FilterQuestion, dict[str, Any], dict[str, Any]]]) -> Iterator[tuple[str, ...]]:
    for group, about in GROUPS.items():
        mine = [each for each in results if each[0].group == group]
        steps = [{each["step"] for each in narrowed["degraded"]} for _, _, narrowed in mine]
        counts = (
            len(mine),
            sum(bool(narrowed["inferred_filter"]) for _, _, narrowed in mine),
            sum("widen" in each for each in steps),
            sum("rewrite" in each for each in steps),
        )
        recalls = [
            f"{mean(_recall(question, pair[side], most) for question, *pair in mine):.3f}"
            for most in (TOP, ALL)
            for side in (0, 1)
        ]
        fewer = sum(
            _hits(question, narrowed, ALL) < _hits(question, without, ALL) for question, without, narrowed in mine
        )
        yield (about, *map(str, counts), *recalls, str(fewer))


if __name__ == "__main__":
    sys.exit(main())
