"""The command for PostgreSQL beside a folder: CPU time of this process, and of a server on this machine."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
from rich.console import Console

from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from anabranch.models.embedders import load_embedder
from anabranch.store.protocol import Arm, FullScores, Scope, Scores
from anabranch.store.stores import open_corpus, open_writer
from benchmarks.at_scale.__main__ import PAGE, SEED, TEXT
from benchmarks.at_scale.exact import recall
from benchmarks.at_scale.gauges import cpu_seconds
from benchmarks.at_scale.generate import generate
from benchmarks.at_scale.material import Material
from benchmarks.at_scale.pool import pool_of
from benchmarks.at_scale.systems.anabranch import BATCH, System
from benchmarks.report import Table, shown

COLUMNS = (
    "passages", "corpus", "load", "ingested, passages/s", "passages/CPU-s", "client, ms", "server, ms", "together, ms",
    "recall@10 of vectors", "lists by words that differ", "largest difference of a score",
)  # fmt: skip
DEPTH = Context().depth


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill the corpora that are not there, ask both the same questions, and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.at_scale.postgres")
    add = parser.add_argument
    add("database", help="address of a database on this machine; its corpora at-scale-N are made and kept")
    add("--sizes", type=lambda text: [int(each) for each in text.split(",")], default=[10_000, 100_000])
    add("--text", type=Path, action="append", metavar="FOLDER", help="as of python -m benchmarks.at_scale")
    add("--sentences", type=int, default=20_000)
    add("--searches", type=int, default=200)
    add("--folder", type=Path, required=True, help="keeps the corpora of folders")
    add("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: {PAGE.name}")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    pool = pool_of(options.text or TEXT, options.folder, most=options.sentences, questions=options.searches, seed=SEED)
    rows: list[tuple[str, ...]] = []
    for size in options.sizes:
        rows += _compared(generate(pool, size, options.folder, SEED), size, options)
    table = Table("scale-postgres", "PostgreSQL beside a folder", COLUMNS, tuple(rows))
    shown([table], Console(width=None if sys.stdout.isatty() else 150, highlight=False), options.write)
    return 0


def _compared(material: Material, size: int, options: argparse.Namespace) -> list[tuple[str, ...]]:
    server = Server(options.database)
    addresses = {
        "folder": str(options.folder / f"corpus-{size}"),
        "PostgreSQL": f"{options.database}#at-scale-{size}",
    }
    told, rows = dict[str, list[Any]](), list[tuple[str, ...]]()
    for name, address in addresses.items():
        rates = _filled(address, material, server)
        # Once before: embedding the questions, and counting what is in scope, is in none of the figures.
        asyncio.run(_asked(address, material.questions))
        load = os.getloadavg()[0]
        client, served = cpu_seconds(), server.seconds()
        told[name] = asyncio.run(_asked(address, material.questions))
        count = len(told[name])
        client, served = (cpu_seconds() - client) / count, (server.seconds() - served) / count
        differ = sum(one[0] != other[0] for one, other in zip(told["folder"], told[name], strict=True))
        rows.append(
            (f"{size:,}", name, f"{load:.1f}", *rates, f"{client * 1000:.1f}", f"{served * 1000:.1f}",
             f"{(client + served) * 1000:.1f}", f"{_recall(address, material, told[name]):.3f}", str(differ),
             f"{_difference(told['folder'], told[name]):.0e}")
        )  # fmt: skip
    return rows


class Server:
    """The processes of a database server on this machine."""

    def __init__(self, database: str) -> None:
        """Find the process that the others are children of."""
        with psycopg.connect(database) as connection:
            ((own,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
            self._parent = int(_numbers(Path(f"/proc/{own}/stat"))[1])

    def seconds(self) -> float:
        """Return the CPU seconds of all of them, of those that have ended, too."""
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                found = _numbers(stat)
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(stat.parent.name) == self._parent:
                ticks += sum(map(int, found[11:15]))  # its own, and its children's that have ended
            elif int(found[1]) == self._parent:
                ticks += sum(map(int, found[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")


def _numbers(stat: Path) -> list[str]:
    """Return what stands behind the name of a process, which may hold blanks."""
    return stat.read_text("utf-8", "replace").rpartition(")")[2].split()


def _filled(address: str, material: Material, server: Server) -> tuple[str, str]:
    """Make a corpus, unless it is there; return passages a second, by the stopwatch and by CPU time of both sides."""
    with open_writer(address) as writer:
        if not writer.is_empty():
            return "-", "-"
        used = cpu_seconds() + server.seconds()
        began, name = time.perf_counter(), load_embedder("minilm").name
        for passages, vectors in material.batches(BATCH):
            writer.add_vectors([passage["key"] for passage in passages], vectors, name)
    report = ingest([material.documents], address)
    if report.embedded or report.rows[0].status != "added":
        raise RuntimeError(f"{report.rows[0]!r}, {report.embedded} passages without a made vector")
    spent = (time.perf_counter() - began, cpu_seconds() + server.seconds() - used)
    by_clock, by_cpu = (f"{material.size / seconds:,.0f}" for seconds in spent)
    return by_clock, by_cpu


async def _asked(address: str, questions: Sequence[str]) -> list[Any]:
    """Return what both arms find for each question, and all scores of what either has found."""
    store = await open_corpus(address)
    if not isinstance(store, FullScores):
        raise TypeError(f"{address} gives no full scores")

    async def one(question: str) -> tuple[list[str], list[str], Scores]:
        lists = [await store.search(arm, [question], DEPTH, Scope()) for arm in ("bm25", "dense")]
        words, near = (found[0]["ids"] for found in lists)
        asked: dict[Arm, list[str]] = {"bm25": [question], "dense": [question]}
        scores = await store.scores(asked, list(dict.fromkeys([*words, *near])), Scope())
        return words, near, scores

    return [await one(question) for question in questions]


def _recall(address: str, material: Material, told: Sequence[Any]) -> float:
    system = System(material, Path(), {"depth": DEPTH})

    async def rows() -> list[list[int]]:
        system._store = await open_corpus(address)
        return await system.rows([near[:10] for _, near, _ in told])

    return recall(asyncio.run(rows()), material.nearest[1.0])


def _difference(one: Sequence[Any], other: Sequence[Any]) -> float:
    """Return the largest difference of a score that both give."""
    largest: float = max(
        abs(mine[0][key] - theirs[0][key])
        for (_, _, ours), (_, _, others) in zip(one, other, strict=True)
        for mine, theirs in zip(ours.values(), others.values(), strict=True)
        for key in mine[0].keys() & theirs[0].keys()
    )
    return largest


if __name__ == "__main__":
    for setting in [name for name in os.environ if name.startswith("ANABRANCH_")]:
        del os.environ[setting]
    raise SystemExit(main())
