"""The command: make a corpus and questions, measure every system, print the tables, and with `--write` keep them."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from anabranch.models.embedders import load_embedder
from benchmarks import ROOT
from benchmarks.answering.aims import aims
from benchmarks.answering.figures import Figures
from benchmarks.answering.material import write_queries
from benchmarks.answering.model import variants
from benchmarks.answering.rows import FLOOR, NAMES, OURS, SERVER
from benchmarks.answering.running import OWN, Terms, cores, measured
from benchmarks.answering.server import LATENCY, PER_TOKEN
from benchmarks.answering.tables import tables
from benchmarks.at_scale.generate import generate
from benchmarks.at_scale.material import Material
from benchmarks.at_scale.pool import pool_of
from benchmarks.report import Table, for_terminal, regenerated

PAGE = Path(__file__).parent.with_name("answering.md")
TEXT = (ROOT / "docs", ROOT / "tests" / "samples")
# Ours goes before those that search the same corpus.
ORDER = (OURS, SERVER, FLOOR, "llama_index", "langchain", "haystack")
PASSAGES, QUESTIONS, SENTENCES, SEED = 10_000, 1_000, 6_000, 1
PLAIN = re.compile(r"[A-Z][\w ,;:()/.%'’-]+[.?]")
"""Sentences that are questions enough; some systems would lose a quote, or half of a line of code, on the way."""

FULL = Terms(turns=15, stalls=5, warm=True, together=32, rounds=5, latency=LATENCY, per_token=PER_TOKEN, cap=600)
QUICK = Terms(turns=2, stalls=1, warm=False, together=2, rounds=1, latency=0.02, per_token=0.0005, cap=900, batches=4)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write if asked to."""
    options = _parser().parse_args(arguments)
    terms = QUICK if options.quick else replace(FULL, turns=options.turns)
    terms = replace(terms, pipelines=options.pipelines)
    if options.quick:
        options.passages, options.sentences, options.questions = 150, 200, 90
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    held = TemporaryDirectory(prefix="anabranch-answering-") if options.folder is None else nullcontext(options.folder)
    with held as name:
        folder = Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        figures = _measured(options, terms, folder, console)
    found = [*tables(figures, _machine(options, terms), terms.pipelines), aims(figures)]
    for table in found:
        console.print(for_terminal(table))
    if options.write:
        _write(options.write, found, figures)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answering", description="Measure what answers cost.")
    add = parser.add_argument
    add("--peers", metavar="PYTHON", help="the interpreter of an environment with benchmarks/peers.txt")
    add("--systems", type=lambda names: names.split(","), default=list(ORDER), help=f"default: {','.join(ORDER)}")
    add("--pipelines", default=FULL.pipelines, metavar="LETTERS", help=f"default: {FULL.pipelines}")
    add("--passages", type=int, default=PASSAGES)
    add("--text", type=Path, action="append", metavar="FOLDER", help="text to make the corpus of; default: the guide")
    add("--sentences", type=int, default=SENTENCES, help="most sentences that are taken from it")
    add("--questions", type=int, default=QUESTIONS, help="most sentences to ask; none is asked twice")
    add("--turns", type=int, default=FULL.turns, help="turns per row, in each of which every system is asked")
    add("--folder", type=Path, help="keep the corpus here")
    add("--quick", action="store_true", help="a few seconds: whether it works, not how fast")
    add("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: {PAGE.name}; and its picture")
    return parser


def _measured(options: argparse.Namespace, terms: Terms, folder: Path, console: Console) -> dict[str, Figures]:
    console.print(f"{options.passages:,} passages: generating")
    material = _material(options, folder)
    interpreters = {system: sys.executable if system in OWN else options.peers for system in options.systems}
    given = {system: interpreter for system, interpreter in interpreters.items() if interpreter}
    return asyncio.run(measured(given, folder, material.folder, terms, console.print))


def _material(options: argparse.Namespace, folder: Path) -> Material:
    """Make passages and questions, and embed whatever will be searched for."""
    text = options.text or TEXT
    pool = pool_of(text, folder, most=options.sentences, questions=options.questions, seed=SEED)
    questions = {question: variants(question) for question in pool.questions if PLAIN.fullmatch(question)}
    texts = [text for question, more in questions.items() for text in (question, *more)]
    write_queries(questions, load_embedder("minilm").embed(texts), folder / "queries")
    return generate(pool, options.passages, folder, SEED)


def _machine(options: argparse.Namespace, terms: Terms) -> dict[str, str]:
    pace = f"{terms.latency * 1000:g} ms, then {terms.per_token * 1000:g} ms a token"
    of_server, of_systems = cores()
    apart = f"{len(of_server)} for the model server alone, {len(of_systems)} for the systems" if of_server else "shared"
    size = "quick" if options.quick else "full"
    return {
        "size of the run": f"{size}, {terms.turns} turns a row, and {terms.stalls} for stalls",
        "passages": f"{options.passages:,}",
        "model server": pace,
        "cores": f"{os.cpu_count()}: {apart}",
        "load at the end": f"{os.getloadavg()[0]:.1f}",
        "Python": f"{platform.python_version()}, {platform.system()} {platform.machine()}",
    }


def _write(page: Path, found: Sequence[Table], figures: Mapping[str, Figures]) -> None:
    from benchmarks.answering.plot import plot_of

    page.write_text(regenerated(page.read_text("utf-8"), found), "utf-8")
    page.with_suffix(".svg").write_text(plot_of(figures), "utf-8")


if __name__ == "__main__":
    # Settings in the environment would change what is measured.
    for setting in [name for name in os.environ if name.startswith("ANABRANCH_")]:
        del os.environ[setting]
    if set(NAMES) != set(ORDER):
        raise SystemExit(f"the order of the systems lacks one of {', '.join(NAMES)}")
    raise SystemExit(main())
