"""The command for keyword search beside other engines: CPU time, size, and whether they find the same and the right."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from anabranch.text.analyzer import analyser
from anabranch_evaluation.collection import read_collection
from anabranch_evaluation.metrics import scores_of
from benchmarks import ROOT
from benchmarks.at_scale.__main__ import PAGE, SEED, TEXT
from benchmarks.at_scale.generate import generate
from benchmarks.at_scale.keyword_engines import ENGINES
from benchmarks.at_scale.pool import pool_of
from benchmarks.report import Table, ms, shown

COST = (
    "passages", "engine", "index, CPU-s", "passages/CPU-s", "disk MB", "search, CPU-ms", "of our ten",
    "same words: search, CPU-ms", "same words: of our ten",
)  # fmt: skip
QUALITY = ("documents", "questions", "engine", "nDCG@10", "same words: nDCG@10")
Found = dict[bool, dict[str, Any]]
"""What an engine told, with its own words (False) and with ours (True)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure each engine on generated passages and on a labelled collection, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.at_scale.keyword_search")
    add = parser.add_argument
    add("--size", type=int, default=100_000, help="passages")
    add("--text", type=Path, action="append", metavar="FOLDER", help="as of python -m benchmarks.at_scale")
    add("--sentences", type=int, default=20_000)
    add("--searches", type=int, default=200)
    add("--folder", type=Path, required=True, help="keeps the corpora")
    add("--labelled", type=Path, metavar="FOLDER", help="a collection with corpus.jsonl, queries.jsonl and qrels")
    add("--peers", metavar="PYTHON", help="the interpreter of an environment with benchmarks/peers.txt")
    add("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: {PAGE.name}")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in ENGINES if name in ALONE or options.peers]
    pool = pool_of(options.text or TEXT, options.folder, most=options.sentences, questions=options.searches, seed=SEED)
    material = generate(pool, options.size, options.folder, SEED)
    texts = [passage["text"] for passage in material.passages()]
    told = _told(names, texts, material.questions, options.peers)
    tables = [Table("scale-words", "Keyword search", COST, tuple(_costs(told, len(texts))))]
    if options.labelled:
        tables.append(Table("scale-labelled", "What is found", QUALITY, tuple(_labelled(options, names))))
    shown(tables, Console(width=None if sys.stdout.isatty() else 150, highlight=False), options.write)
    return 0


ALONE = {"Anabranch", "SQLite FTS5"}
"""Engines that need no package of peers."""


def _told(names: Sequence[str], texts: Sequence[str], questions: Sequence[str], peers: str | None) -> dict[str, Found]:
    numbers, asked = _numbered(texts, questions)
    return {
        name: {
            False: _run(name, texts, questions, peers, split=False),
            True: _run(name, numbers, asked, peers, split=True),
        }
        for name in names
    }


def _numbered(*lists: Sequence[str]) -> list[list[str]]:
    """Return the texts as the numbers of their terms, which no engine will split or stem in a way of its own."""
    numbers: dict[str, str] = {}
    terms = analyser().terms
    return [[" ".join(numbers.setdefault(term, f"t{len(numbers)}") for term in terms(text)) for text in texts]
            for texts in lists]  # fmt: skip


def _run(
    name: str, texts: Sequence[str], questions: Sequence[str], peers: str | None, *, split: bool
) -> dict[str, Any]:
    with TemporaryDirectory(prefix="anabranch-keywords-") as home:
        job, folder = Path(home) / "job.json", Path(home) / "index"
        folder.mkdir()
        facts = {"engine": name, "texts": texts, "questions": questions, "folder": str(folder), "split": split}
        job.write_text(json.dumps(facts), "utf-8")
        interpreter = sys.executable if name in ALONE else str(peers)
        command = [interpreter, "-m", "benchmarks.at_scale.keyword_engines", str(job)]
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        told: dict[str, Any] = json.loads(done.stdout)
        return told


def _costs(told: dict[str, Found], size: int) -> list[tuple[str, ...]]:
    def agreement(name: str, *, split: bool) -> str:
        pairs = zip(told["Anabranch"][split]["found"], told[name][split]["found"], strict=True)
        return f"{statistics.fmean(len(set(ours) & set(theirs)) / len(ours) for ours, theirs in pairs if ours):.3f}"

    return [
        (f"{size:,}", f"{name} {own['version']}", f"{own['build']:.1f}", f"{size / own['build']:,.0f}",
         f"{own['disk']:.0f}", ms(own["search"]), agreement(name, split=False), ms(same["search"]),
         agreement(name, split=True))
        for name, (own, same) in ((name, found.values()) for name, found in told.items())
    ]  # fmt: skip


def _labelled(options: argparse.Namespace, names: Sequence[str]) -> list[tuple[str, ...]]:
    collection = read_collection(options.labelled)
    lines = (options.labelled / "corpus.jsonl").read_text("utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    asked = {key: text for key, text in collection.queries.items() if key in collection.qrels}
    rows = []
    texts = [f"{each['title']}\n{each['text']}" for each in documents]
    for name, told in _told(names, texts, list(asked.values()), options.peers).items():
        means = []
        for each in told.values():
            ranked = [[str(documents[row]["id"]) for row in found] for found in each["found"]]
            scores = scores_of(["nDCG@10"], collection.qrels, dict(zip(asked, ranked, strict=True)))["nDCG@10"]
            means.append(f"{statistics.fmean(scores.values()):.3f}")
        rows.append((f"{len(documents):,}", str(len(asked)), f"{name} {told[False]['version']}", *means))
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
