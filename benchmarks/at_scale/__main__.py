"""The command: generate corpora, measure every system on each, print the tables, and with `--write` keep them."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from anabranch.agent.nodes.settings import Context
from benchmarks import ROOT
from benchmarks.at_scale.curves import curves_of
from benchmarks.at_scale.figures import Kept
from benchmarks.at_scale.generate import generate
from benchmarks.at_scale.pool import Pool, pool_of
from benchmarks.at_scale.running import OURS, Terms, measured
from benchmarks.at_scale.systems import NAMES
from benchmarks.at_scale.tables import tables, versions
from benchmarks.report import shown

PAGE = Path(__file__).parent.with_name("at-scale.md")
TEXT = (ROOT / "docs", ROOT / "tests" / "samples")
FEWER_FROM, FEWER = 100_000, 50
SEED = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write if asked to."""
    options = _parser().parse_args(arguments)
    if options.quick:
        options.sizes, options.sentences, options.searches = [300], 220, 10
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    held = TemporaryDirectory(prefix="anabranch-at-scale-") if options.folder is None else nullcontext(options.folder)
    with held as name:
        folder = Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        kept = _measured(options, folder, console)
    shown(tables(kept, _machine() | versions(kept)), console, options.write)
    if options.write:
        options.write.with_suffix(".svg").write_text(curves_of(list(kept)), "utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.at_scale", description="Measure corpora of any size.")
    add = parser.add_argument
    add(
        "--sizes",
        type=_sizes,
        default=[1_000, 10_000, 100_000],
        help="passages, with commas between them; '': only show what was kept",
    )
    add("--text", type=Path, action="append", metavar="FOLDER", help="text to make corpora of; default: the guide")
    add("--sentences", type=int, default=20_000, help="most sentences that are taken from it")
    add("--peers", metavar="PYTHON", help="the interpreter of an environment with benchmarks/peers.txt")
    add("--systems", type=lambda names: names.split(","), default=list(NAMES), help=f"default: {','.join(NAMES)}")
    add("--searches", type=int, default=200, help=f"questions per row; {FEWER} from {FEWER_FROM:,} passages on")
    add("--cap", type=float, default=15, help="minutes that a peer has at one size")
    add("--memory", type=float, default=_three_quarters(), metavar="GB", help="most that one process may ask for")
    add("--folder", type=Path, help="keep corpora and figures here; later runs add to them")
    add("--quick", action="store_true", help="a few seconds: whether it works, not how fast")
    add("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: {PAGE.name}")
    return parser


def _sizes(text: str) -> list[int]:
    return [int(size.replace("_", "")) for size in text.split(",") if size]


def _three_quarters() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 0.75 / 1e9


def _measured(options: argparse.Namespace, folder: Path, console: Console) -> Kept:
    kept = Kept(folder)
    if options.sizes:
        pool = pool_of(options.text or TEXT, folder, most=options.sentences, questions=options.searches, seed=SEED)
        for size in options.sizes:
            _sized(options, size, pool, folder, kept, console)
    return kept


def _sized(options: argparse.Namespace, size: int, pool: Pool, folder: Path, kept: Kept, console: Console) -> None:
    console.print(f"{size:,}: generating")
    material = generate(pool, size, folder, SEED)
    kept.corpora[size] = material.facts
    kept.write()
    terms = Terms(
        folder, min(options.searches, FEWER) if size >= FEWER_FROM else options.searches, options.cap * 60,
        options.memory * 1000, Context().model_dump(include={"depth"}),
    )  # fmt: skip
    for system in options.systems:
        interpreter = sys.executable if system == OURS else options.peers
        if interpreter:
            kept.keep(measured(system, interpreter, material, size, terms, console.print))
    if options.folder is None:
        shutil.rmtree(material.folder)


def _cores() -> int | None:
    """Return how many cores this process and its children may use (`taskset`); not every system can tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _machine() -> dict[str, str]:
    return {
        "cores": f"{_cores()} of {os.cpu_count()}",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.0f} GB",
        "Python": f"{platform.python_version()}, {platform.system()} {platform.machine()}",
    }


if __name__ == "__main__":
    # Settings in the environment would change what is measured.
    for setting in [name for name in os.environ if name.startswith("ANABRANCH_")]:
        del os.environ[setting]
    raise SystemExit(main())
