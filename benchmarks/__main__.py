"""The command: measure everything, print the tables, and with `--write` put them into benchmarks/README.md."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from benchmarks import ingesting, routes, searching, together
from benchmarks.asking import answering, questions
from benchmarks.report import Table, for_terminal, regenerated
from benchmarks.scale import FULL, QUICK, Scale
from tests.servers.openai_stub import OpenAIStub

README = Path(__file__).with_name("README.md")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure speed and cost.")
    parser.add_argument("--quick", action="store_true", help="a few seconds: whether it works, not how fast")
    parser.add_argument("--write", nargs="?", type=Path, const=README, metavar="PAGE", help=f"default: {README.name}")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 130, highlight=False)
    with TemporaryDirectory(prefix="anabranch-benchmarks-") as folder:
        tables = asyncio.run(measured(QUICK if options.quick else FULL, Path(folder)))
    for table in tables:
        console.print(for_terminal(table))
    if options.write:
        page = options.write.read_text(encoding="utf-8")
        options.write.write_text(regenerated(page, tables), encoding="utf-8")
    return 0


async def measured(scale: Scale, folder: Path) -> list[Table]:
    """Return every table; one model server and one embedder serve them all."""
    corpus = folder / "corpus"
    fresh = questions()
    tables = [machine(scale), await asyncio.to_thread(ingesting.measure, scale, corpus)]
    with OpenAIStub(answering(scale.delay)) as stub:
        tables += await routes.measure(scale, corpus, stub, fresh, folder)
        tables.append(await together.measure(scale, corpus, stub, fresh))
    return [*tables, await asyncio.to_thread(searching.measure, scale, folder)]


def machine(scale: Scale) -> Table:
    """Return what the figures were measured on."""
    facts = {
        "size of the run": f"{scale.name}, {scale.repeats} turns a row",
        "cores": str(os.cpu_count()),
        "load when it began": f"{os.getloadavg()[0]:.1f}",
        "Python": f"{platform.python_version()}, {platform.system()} {platform.machine()}",
        **{name: version(name) for name in ("langgraph", "faiss-cpu", "onnxruntime", "rank-bm25")},
    }
    return Table("machine", "Measured on", ("what", "value"), tuple(facts.items()))


if __name__ == "__main__":
    # Settings in the environment would change what is measured.
    for setting in [name for name in os.environ if name.startswith("ANABRANCH_")]:
        del os.environ[setting]
    raise SystemExit(main())
