"""The command for where the CPU time of `anabranch ingest` goes, and for what a second core gives it; Linux only."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from cProfile import Profile
from inspect import unwrap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from anabranch.chunking.hierarchical_chunker import grow
from anabranch.ingestion.pipeline import ingest
from anabranch.ingestion.write_batch import Batch
from anabranch.models.onnx_embedder import OnnxEmbedder
from anabranch.models.wordpiece_tokenizer import WordPieces
from anabranch.readers import read
from anabranch.readers.document import ReadOptions
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.local_store import LocalWriter
from benchmarks import ROOT
from benchmarks.at_scale.__main__ import PAGE
from benchmarks.at_scale.gauges import cpu_seconds
from benchmarks.report import Table, shown

STAGES: dict[str, Callable[..., Any]] = {
    "reading": read,
    "cutting": grow,
    "tokenizing for the model": WordPieces.encode,
    "the model": OnnxEmbedder.embed,
    "keeping vectors": CorpusDatabase.add_vectors,
    "committing documents": Batch.write,
    "making the index": LocalWriter.publish,
}
"""What each stage is the time of: a function with all that it calls. The model's begins with
opening it, and is without the tokenizing in it."""

BESIDE = "reading and cutting in other processes"
REST = "the rest: imports, settings, opening the corpus"


def main(arguments: Sequence[str] | None = None) -> int:
    """Ingest the text under a profiler, then with one core and with two, and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.at_scale.ingest_stages")
    add = parser.add_argument
    add("text", nargs="?", type=Path, default=ROOT / "docs", help="what is taken in; default: the guide")
    add("--cores", type=int, nargs="*", default=[1, 2])
    add("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: {PAGE.name}")
    options = parser.parse_args(arguments)
    # The runs with other cores come first: they start from nothing, and this process will have imported all of it.
    runs = [_run(options.text, count) for count in options.cores]
    stages, passages = _profiled(options.text)
    tables = [
        Table("scale-stages", "Where the time goes", ("stage", "CPU-s", "share"), tuple(_shares(stages))),
        Table("scale-cores", "Cores", CORES, tuple(_rates(runs, passages))),
    ]
    shown(tables, Console(width=None if sys.stdout.isatty() else 150, highlight=False), options.write)
    return 0


def _profiled(text: Path) -> tuple[dict[str, float], int]:
    """Return the CPU seconds of each stage, of all threads, and how many passages were embedded."""
    # With the clock of the whole process, waiting for threads that compute counts what they compute.
    profile, began, here = Profile(time.process_time), cpu_seconds(), time.process_time()
    with TemporaryDirectory(prefix="anabranch-") as home:
        report = profile.runcall(ingest, [text], Path(home) / "corpus", options=ReadOptions(ocr=False))
    whole, here = cpu_seconds() - began, time.process_time() - here
    codes: dict[object, str] = {unwrap(function).__code__: stage for stage, function in STAGES.items()}
    found = {codes[entry.code]: entry.totaltime for entry in profile.getstats() if entry.code in codes}
    found["the model"] -= found["tokenizing for the model"]
    stages = {stage: found.get(stage, 0.0) for stage in STAGES} | {BESIDE: max(0.0, whole - here)}
    return stages | {REST: whole - sum(stages.values())}, report.embedded


def _shares(stages: dict[str, float]) -> Iterator[tuple[str, ...]]:
    whole = sum(stages.values())
    for stage, seconds in stages.items():
        yield stage, f"{seconds:.2f}", f"{seconds / whole:.0%}"


CORES = ("cores", "load", "seconds", "CPU-s", "passages/s", "passages/CPU-s", "of a core used")


def _run(text: Path, cores: int) -> tuple[int, float, float, float]:
    """Return the cores, the load, and the seconds and CPU seconds of the command with so many cores."""
    allowed = os.sched_getaffinity(0)
    load = os.getloadavg()[0]
    with TemporaryDirectory(prefix="anabranch-") as home:
        ingesting = ["ingest", str(text), "--no-ocr", "--corpus", f"{home}/corpus"]
        command = [sys.executable, "-m", "anabranch.cli", *ingesting]
        os.sched_setaffinity(0, sorted(allowed)[:cores])
        try:
            began = time.perf_counter()
            child = os.posix_spawn(command[0], command, os.environ, file_actions=_SILENT)
            _, status, used = os.wait4(child, 0)
            seconds = time.perf_counter() - began
        finally:
            os.sched_setaffinity(0, allowed)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return len(sorted(allowed)[:cores]), load, seconds, used.ru_utime + used.ru_stime


_SILENT = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]


def _rates(runs: Sequence[tuple[int, float, float, float]], passages: int) -> Iterator[tuple[str, ...]]:
    for cores, load, seconds, used in runs:
        rates = (f"{passages / seconds:.0f}", f"{passages / used:.0f}", f"{used / seconds:.2f}")
        yield str(cores), f"{load:.1f}", f"{seconds:.1f}", f"{used:.1f}", *rates


if __name__ == "__main__":
    for setting in [name for name in os.environ if name.startswith("ANABRANCH_")]:
        del os.environ[setting]
    raise SystemExit(main())
