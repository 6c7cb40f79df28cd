"""Many readers at once: `python -m benchmarks.serving --write` fills benchmarks/serving.md; Linux only.

Each question begins a thread and reads the words of its answer as they are written. The model is that of
`benchmarks.answering`: a process of its own that takes the time of a hosted one.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen
from uuid import uuid4

from langgraph_sdk import get_client

from benchmarks.serving.load_test import LoadResult, load

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "benchmarks" / "serving.md"
MARKS = ("<!-- figures -->", "<!-- /figures -->")
HEAD = (
    "| program | readers | questions | errors | questions/s | first word, median | first word, 95 % | CPU-s each | "
    "of the graph alone | MB after a fifth | MB at the end |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
)


def main() -> None:
    """Measure each program, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--readers", type=int, nargs="+", default=[32, 100])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="anabranch-serving-") as folder:
        home = Path(folder)
        subprocess.run(
            [sys.executable, "-m", "anabranch.cli", "ingest", str(ROOT / "docs"), "--corpus", str(home / "corpus")],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        table = _measured(home, given.questions, given.readers)
    print(table)
    if given.write:
        before, _, rest = PAGE.read_text().partition(MARKS[0])
        PAGE.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}")


def questions_of(count: int) -> list[str]:
    heads = [line[3:] for page in sorted((ROOT / "docs").glob("*.md")) for line in page.read_text().splitlines()
             if line.startswith("## ")]  # fmt: skip
    return [f"{head}?" for head in islice(cycle(heads), count)]


def _measured(home: Path, count: int, readers: list[int]) -> str:
    rows: list[str] = []
    with _model(home) as model:
        environment = {**os.environ, "ANABRANCH_CORPUS": str(home / "corpus"), "ANABRANCH_MODEL": "openai:stub",
                       "ANABRANCH_BASE_URL": model, "OPENAI_API_KEY": "none", "LANGSMITH_TRACING": "false"}  # fmt: skip
        for at_once in readers:
            alone = _alone(environment, count, at_once)
            rows.append(_row("the graph alone, no thread kept", alone, alone))
            print(rows[-1], flush=True)
            for name, start in (("`anabranch serve`", _serve), ("`langgraph dev`", _dev)):
                with start(home, environment, at_once) as (url, process):
                    asyncio.run(_loaded(url, questions_of(at_once), at_once, process))  # everything is imported then
                    found = asyncio.run(_loaded(url, questions_of(count), at_once, process))
                rows.append(_row(name, found, alone))
                print(rows[-1], flush=True)
    return "\n".join([HEAD, *rows])


def _row(name: str, found: LoadResult, alone: LoadResult) -> str:
    for error in found.errors[:3]:
        print(error, file=sys.stderr)
    (middle, most), rate = found.first_word, found.questions / found.wall
    asked = f"{found.at_once} | {found.questions} | {len(found.errors)} | {rate:.1f}"
    return (
        f"| {name} | {asked} | {middle:.2f} | {most:.2f} | "
        f"{found.cpu_each:.3f} | {found.cpu_each / alone.cpu_each:.2f} | {found.warm:.0f} | {found.end:.0f} |"
    )


@contextmanager
def _model(home: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.answering.server", str(home / "calls.jsonl")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield (process.stdout.readline() if process.stdout else "").strip()
        finally:
            process.terminate()


def _alone(environment: dict[str, str], count: int, at_once: int) -> LoadResult:
    """Measure the compiled graph in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.serving.graph_alone", str(count), str(at_once)]
    told = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    wall, cpu, warm, end, *first = map(float, told.split())
    return LoadResult(at_once, count, wall, cpu, warm, end, first)


@contextmanager
def _serve(home: Path, environment: dict[str, str], at_once: int) -> Iterator[tuple[str, int]]:
    options = ["--port", "0", "--data", str(home / "data"), "--concurrent", str(at_once)]
    with _running([sys.executable, "-m", "anabranch.cli", "serve", *options], home, environment) as found:
        yield found


@contextmanager
def _dev(home: Path, environment: dict[str, str], at_once: int) -> Iterator[tuple[str, int]]:
    code = home / f"dev-{at_once}"
    code.mkdir()
    for name in ("anabranch", "graph", "nodes", "prompts"):
        shutil.copytree(ROOT / name, code / name, symlinks=True, ignore=shutil.ignore_patterns("node_modules"))
    for name in ("langgraph.json", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, code / name)
    command = ["dev", "--no-browser", "--no-reload", "--port", "20247", "--n-jobs-per-worker", str(at_once)]
    program = str(Path(sys.executable).parent / "langgraph")
    with _running([program, *command], code, {**environment, "PYTHONPATH": str(code)}) as found:
        yield found


@contextmanager
def _running(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[tuple[str, int]]:
    """Start a server, and yield its address and the number of its process."""
    log = folder / f"{uuid4().hex}.log"
    output = log.open("w")
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
    with output, process:
        try:
            yield _address(log, process), process.pid
        finally:
            process.terminate()


def _address(log: Path, process: subprocess.Popen[bytes]) -> str:
    while process.poll() is None:
        time.sleep(0.3)
        if found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text()):
            with suppress(OSError), urlopen(f"{found[0]}/ok", timeout=30):
                return found[0]
    raise SystemExit(log.read_text()[-3000:])


async def _loaded(url: str, questions: Sequence[str], at_once: int, process: int) -> LoadResult:
    async with get_client(url=url, timeout=600) as client:
        return await load(lambda question: _asked(client, question), questions, at_once, process)


async def _asked(client: Any, question: str) -> float:  # noqa: ANN401  # of langgraph-sdk
    began, first = time.monotonic(), None
    thread = await client.threads.create()
    async for part in client.runs.stream(
        thread["thread_id"], "answer", input={"question": question}, stream_mode=["messages-tuple"]
    ):
        if part.event == "error":
            raise RuntimeError(part.data)
        if first is None and part.event == "messages" and part.data[0].get("content"):
            first = time.monotonic() - began
    if first is None:
        raise RuntimeError("no word of an answer came")
    return first


if __name__ == "__main__":
    main()
