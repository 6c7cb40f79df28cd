"""The command: count the hits of made collections, or have a model sum up documents.

    python -m evals.coverage --write
    python -m evals.coverage --summaries paper.pdf report.pdf --model openai:NAME --base-url URL

The first reads with a script and needs no model: it measures what the program does with what a model lists. The second
measures a model.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from anabranch import answer, ingest
from anabranch.errors import SettingsError
from anabranch.store.protocol import Outlines, Scope
from anabranch.store.stores import open_corpus
from benchmarks.report import Table, shown
from evals.coverage.made_collection import QUESTION, SIZES, HitCollection, make_collection
from evals.coverage.scripted_reader import list_hits
from evals.scripted_chat import ScriptedChat

PAGE = Path(__file__).parent.with_suffix(".md")
SUMMARY = "Sum up the whole document: what each of its parts says."
PARTS = 10
"""Equal parts of a document; a summary should cite many of them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write if asked to."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 170, highlight=False, markup=False)
    if options.summaries:
        settings = {"model": options.model, "base_url": options.base_url, "max_model_calls": options.calls}
        shown([summary_table(options.summaries, settings)], console, None)
    else:
        shown([hit_table(options.collections)], console, options.write)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.coverage", description="Measure what is read and counted.")
    add = parser.add_argument
    add("--collections", type=int, nargs="*", default=range(len(SIZES)), help="numbers from 0; default: all")
    add("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: evals/{PAGE.name}")
    add("--summaries", type=Path, nargs="*", metavar="FILE", help="documents that --model sums up")
    add("--model", help="the chat model of --summaries")
    add("--base-url", help="its server")
    add("--calls", type=int, default=1_000, help="most calls for one document")
    return parser


def hit_table(numbers: Iterable[int]) -> Table:
    """Return the counts of each collection: of all that is read, and of the best passages."""
    columns = ("hits", "documents", "read", "calls", "rows", "false", "recall", "places", "top 24: rows", "recall")
    rows = [_measure(make_collection(number)) for number in numbers]
    return Table("coverage-hits", "Hits of made collections", columns, tuple(rows))


def _measure(made: HitCollection) -> tuple[str, ...]:
    with TemporaryDirectory(prefix="anabranch-coverage-") as folder:
        documents = Path(folder, "documents")
        documents.mkdir()
        for name, text in made.documents.items():
            (documents / name).write_text(text, encoding="utf-8")
        corpus = Path(folder, "corpus")
        ingest(documents, corpus)
        settings: dict[str, Any] = {"corpus": corpus, "model": ScriptedChat(script=list_hits), "strategy": "none"}
        whole = answer(QUESTION, coverage="corpus", synthesis="rows", **settings)
        best = answer(QUESTION, coverage="passages", synthesis="rows", **settings)
    coverage, found, top = whole["coverage"], _names(whole), _names(best)
    return (
        str(len(made.hits)),
        str(coverage["documents"]),
        f"{coverage['read']} of {coverage['leaves']}",
        str(whole["usage"]["calls"]),
        str(len(found)),
        str(len(found - made.hits)),
        f"{len(found & made.hits) / len(made.hits):.3f}",
        f"{len(whole['citations'])} of {made.places}",
        str(len(top)),
        f"{len(top & made.hits) / len(made.hits):.3f}",
    )


def _names(result: dict[str, Any]) -> set[str]:
    return {citation["claim"] for citation in result["citations"]}


def summary_table(files: Iterable[Path], settings: dict[str, Any]) -> Table:
    """Return what a summary of each document read, and where its claims were found."""
    columns = ("document", "passages", "read", "calls", "seconds", "claims", "quoted", "found", "tenths cited")
    return Table("coverage-summaries", "Summaries", columns, tuple(_sum_up(file, settings) for file in files))


def _sum_up(file: Path, settings: dict[str, Any]) -> tuple[str, ...]:
    with TemporaryDirectory(prefix="anabranch-coverage-") as folder:
        corpus = Path(folder, "corpus")
        ingest(file, corpus)
        length = asyncio.run(_length(corpus))
        begin = time.perf_counter()  # the steps' own times overlap
        result = answer(SUMMARY, corpus=corpus, coverage="document", model_timeout=3_600.0, strategy="none", **settings)
        seconds = time.perf_counter() - begin
    coverage, check = result["coverage"], result["verification"]
    tenths = {PARTS * citation["start"] // length for citation in result["citations"]}
    figures = (coverage["leaves"], coverage["read"], result["usage"]["calls"], f"{seconds:.0f}")
    grades = (check.get(name, 0) for name in ("claims", "quoted", "found"))
    return (file.name, *map(str, figures), *map(str, grades), f"{len(tenths)} of {PARTS}")


async def _length(corpus: Path) -> int:
    """Return the characters of the one document of a corpus.

    Raises:
        SettingsError: The file holds several, or none.
    """
    reader = await open_corpus(corpus)
    outlines = await reader.outlines(Scope(), 2) if isinstance(reader, Outlines) else []
    if len(outlines) != 1 or not isinstance(reader, Outlines):
        raise SettingsError("Each file of --summaries has to hold one document.", hint="Leave the others out.")
    leaves = (await reader.leaves([outlines[0].doc_id], Scope(), 1_000_000))[outlines[0].doc_id]
    return (await reader.chunks(leaves[-1:], Scope()))[leaves[-1]].end


if __name__ == "__main__":
    sys.exit(main())
