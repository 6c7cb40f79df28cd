"""Runs the model server and every system, each in a process of its own, and lets the systems answer in turns."""

from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from benchmarks import ROOT
from benchmarks.answering.calls import read_calls
from benchmarks.answering.figures import Figures, Told
from benchmarks.answering.rows import FLOOR, OURS, SERVER, Row, rows_of

OWN = {FLOOR, OURS, SERVER}
"""Systems that run in this environment."""

SAVERS = ("memory", "SQLite")
"""Where those keep threads that keep some."""

SPARE = 15
"""Most turns of a stage beyond those that count: some questions are answered in another way than a row is about."""

# No system may report to anybody while it is measured.
QUIET = {"HAYSTACK_TELEMETRY_ENABLED": "False", "LANGSMITH_TRACING": "false", "ANONYMIZED_TELEMETRY": "False"}


@dataclass(frozen=True, slots=True)
class Terms:
    """How systems are run.

    Attributes:
        turns: Turns per row whose time counts.
        stalls: Further turns per row in which stalls are measured; and as many with threads in SQLite.
        warm: Whether one turn goes before that counts for nothing.
        together: Questions at once.
        rounds: How often that many; once more for the stalls.
        latency: Seconds of the model server before the first token.
        per_token: Seconds from each token to the next.
        cap: Seconds that one turn may take.
        batches: Calls for relevances that wait for each other; 0 for none.
        pipelines: Letters of those that are run.
    """

    turns: int
    stalls: int
    warm: bool
    together: int
    rounds: int
    latency: float
    per_token: float
    cap: float
    batches: int = 0
    pipelines: str = "ABCDF"


@contextmanager
def model_server(log: Path, terms: Terms) -> Iterator[str]:
    """Serve the model in a process of its own; yield its address.

    Raises:
        RuntimeError: It does not start.
    """
    pace = ["--latency", str(terms.latency), "--per-token", str(terms.per_token), "--batches", str(terms.batches)]
    command = [sys.executable, "-m", "benchmarks.answering.server", str(log), *pace]
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, cwd=ROOT, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            ready, _, _ = select.select([server.stdout], [], [], 300)
            address = server.stdout.readline().strip() if ready else ""
            if not address:
                said.seek(0)
                raise RuntimeError(f"the model server did not start: {said.read()[-500:]}")
            yield address
        finally:
            server.terminate()


def cores() -> tuple[set[int], set[int]]:
    """Return the core of the model server, and those of the systems; none where a system cannot be bound to one."""
    own = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return ({own[-1]}, {*own[:-1]}) if len(own) > 1 else (set(), set())


@contextmanager
def bound_to(chosen: set[int]) -> Iterator[None]:
    """Let processes that are started inside run on these cores."""
    if not chosen:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, chosen)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@dataclass(slots=True)
class Session:
    """A system in a process of its own, and what it told; a process that does not answer in time has ended."""

    system: str
    process: Process | None = None
    said: IO[bytes] | None = None
    told: list[Told] = field(default_factory=list)
    ended: str = ""

    async def start(self, interpreter: str, job: Path, cap: float) -> None:
        """Start it, and let it take in the passages."""
        command = (interpreter, "-m", "benchmarks.answering.session", str(job))
        self.said = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        try:
            self.process = await asyncio.create_subprocess_exec(
                *command, cwd=ROOT, env={**os.environ, **QUIET}, stdin=PIPE, stdout=PIPE, stderr=self.said, limit=2**24
            )
        except OSError as error:
            self._end(f"{interpreter}: {error.strerror}")
            return
        built = await self.order(cap, do="build")
        if "failed" in built:
            self._end(built["failed"])
        self.told.append(built)

    async def order(self, cap: float, **order: object) -> Told:
        """Let it do something; return what it tells."""
        if self.ended or self.process is None:
            return {"failed": self.ended}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            line = await asyncio.wait_for(self.process.stdout.readline(), cap)
        except TimeoutError:
            self._end(f"no answer within {cap:.0f} s")
            return {"failed": self.ended}
        if not line:
            assert self.said is not None
            code = await self.process.wait()
            self.said.seek(0)
            lines = self.said.read().decode(errors="replace").strip().splitlines()
            self._end(lines[-1] if lines else f"exit code {code}")
            return {"failed": self.ended}
        told: Told = json.loads(line)
        return told

    def _end(self, why: str) -> None:
        self.ended = self.ended or why
        self.told.append({"failed": self.ended})
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.kill()

    async def close(self) -> None:
        """Let the process end, and wait for it."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.kill()
            await self.process.communicate()
        if self.said is not None:
            self.said.close()


@dataclass(slots=True)
class Entry:
    """One row of one system, with its threads in one place.

    Attributes:
        failed: Whether it has ended.
        steps: Of the latest turn.
        went: How many turns of each kind it has taken.
    """

    session: Session
    row: Row
    saver: str
    failed: bool = False
    steps: int = 0
    went: Counter[str] = field(default_factory=Counter)

    @property
    def is_first(self) -> bool:
        """Whether the tables of time show it: those with threads in SQLite stand in a table of their own."""
        return self.saver != SAVERS[1]

    async def order(self, cap: float, **order: object) -> Told:
        """Let its system do something for this row; what fails ends the row."""
        told = await self.session.order(cap, row=self.row.name, saver=self.saver, **order)
        if "failed" in told:
            self.failed = True
            self.tell(failed=told["failed"])
        return told

    async def ask(self, cap: float, kind: str, number: int, questions: Sequence[str]) -> None:
        """Take one turn; `kind` is that of the turn, and one that went astray counts for nothing."""
        told = await self.order(cap, do="turn", questions=questions, beat=kind in ("stall", "stall together"))
        if self.failed:
            return
        astray = [answer["astray"] for answer in told["answers"] if answer["astray"]]
        first = told["answers"][0]
        if kind in ("turn", "stall"):
            if astray:
                self.went["astray"] += 1
                self.tell(astray=astray[0])
                return
            self.steps = first["steps"]
        self.went[kind] += 1
        facts = {"first": first["first"], "steps": first["steps"]}
        self.tell(kind=kind, number=number, asked=len(questions), astray=len(astray), watch=told["watch"], **facts)

    def tell(self, **facts: object) -> None:
        """Keep facts about this row."""
        self.session.told.append({"row": self.row.name, "saver": self.saver, **facts})


class TooFewQuestionsError(RuntimeError):
    """All questions have been asked."""


class Questions:
    """The questions, each of which is asked once."""

    def __init__(self, questions: Sequence[str]) -> None:
        """Take all of them."""
        self._left = [*questions]

    def __len__(self) -> int:
        """Return how many are left."""
        return len(self._left)

    def take(self, count: int) -> list[str]:
        """Return the next ones.

        Raises:
            TooFewQuestionsError: There are too few.
        """
        if count > len(self._left):
            raise TooFewQuestionsError(
                "There are too few questions: raise --questions, give more text with --text, or run fewer --pipelines."
            )
        found, self._left = self._left[:count], self._left[count:]
        return found


async def measured(
    interpreters: Mapping[str, str], folder: Path, material: Path, terms: Terms, say: Callable[[str], None]
) -> dict[str, Figures]:
    """Return the figures of each system; what fails or takes too long is told in them.

    Args:
        interpreters: The interpreter of each system, in the order in which they are built.
        folder: For what is written meanwhile.
        material: The passages.
        terms: How they are run.
        say: Told what is done.
    """
    log = folder / "calls.jsonl"
    log.write_text("", "utf-8")
    of_server, of_systems = cores()
    sessions = [Session(system) for system in interpreters]
    async with AsyncExitStack() as held:
        with bound_to(of_server):
            base_url = held.enter_context(model_server(log, terms))
        for session in sessions:
            say(f"{session.system}: taking in the passages")
            job = folder / f"job-{session.system}.json"
            facts = {
                "system": session.system, "material": str(material), "queries": str(folder / "queries"),
                "folder": str(folder), "base_url": base_url,
            }  # fmt: skip
            job.write_text(json.dumps(facts), "utf-8")
            held.push_async_callback(session.close)
            with bound_to(of_systems):
                await session.start(interpreters[session.system], job, terms.cap)
        asked: list[list[str]] = json.loads((folder / "queries" / "queries.json").read_text("utf-8"))
        try:
            await stages(sessions, Questions([queries[0] for queries in asked]), terms, say)
        except TooFewQuestionsError as error:
            # What was measured until now took half an hour.
            say(f"{error} The rows that have their figures are kept.")
    calls = read_calls(log)
    return {session.system: Figures(session.system, session.told, calls) for session in sessions}


async def stages(sessions: Sequence[Session], questions: Questions, terms: Terms, say: Callable[[str], None]) -> None:
    """Run pipeline after pipeline: turns, then turns for stalls, then many questions at once."""
    for pipeline in terms.pipelines:
        entries = [entry for session in sessions for entry in _entries(session, pipeline)]
        for entry in entries:
            await entry.order(terms.cap, do="ready")
        for kind, most in (("warm", int(terms.warm)), ("turn", terms.turns), ("stall", terms.stalls)):
            say(f"{pipeline}: {kind}, load {os.getloadavg()[0]:.1f}")
            await _turns(entries, questions, terms, kind, most)
        for entry in entries:
            if entry.steps and not entry.failed:
                told = await entry.session.order(terms.cap, do="idle", saver=entry.saver, steps=entry.steps)
                entry.tell(idle=told.get("idle", []))
        many = [entry for entry in entries if entry.row.together and entry.is_first]
        for kind, most in (("warm together", int(terms.warm)), ("together", terms.rounds), ("stall together", 1)):
            say(f"{pipeline}: {kind}, load {os.getloadavg()[0]:.1f}")
            await _rounds(many, questions, terms, kind, most)


def _entries(session: Session, pipeline: str) -> list[Entry]:
    """Return the rows of a pipeline, those first that stand in the tables of time."""
    savers = SAVERS if session.system in (OURS, SERVER) else ("",)
    rows = [row for row in rows_of(session.system) if row.pipeline == pipeline]
    return [Entry(session, row, saver) for saver in savers for row in rows]


async def _turns(entries: Sequence[Entry], questions: Questions, terms: Terms, kind: str, most: int) -> None:
    """Let all take turns until each has enough: every turn has its question, and everybody is first once in a while."""
    few = {entry.saver: min(most, terms.stalls) if not entry.is_first else most for entry in entries}
    # As many questions as one process has rows, so that none is asked twice of it.
    width = max(Counter(entry.session.system for entry in entries).values(), default=0)
    blocks = [questions.take(width) for _ in range(most)]
    await _know(entries, blocks, terms)
    for number in range(most + SPARE):
        lacking = [entry for entry in entries if not entry.failed and entry.went[kind] < few[entry.saver]]
        if not lacking or (number >= most and len(questions) < width):
            return
        if number >= most:
            blocks.append(questions.take(width))
            await _know(entries, blocks[-1:], terms)
        at = dict.fromkeys((entry.session.system for entry in entries), 0)
        due = []
        for entry in entries:
            if entry in lacking or (entry.is_first and not entry.failed):
                due.append((entry, blocks[number][at[entry.session.system]]))
            at[entry.session.system] += 1
        start = number % len(due)
        for entry, question in [*due[start:], *due[:start]]:
            await entry.ask(terms.cap, kind, number, [question])


async def _rounds(entries: Sequence[Entry], questions: Questions, terms: Terms, kind: str, most: int) -> None:
    """Let all take turns, with many questions at once in each."""
    if not entries:
        return
    blocks = [questions.take(terms.together) for _ in range(most)]
    await _know(entries, blocks, terms)
    for number, block in enumerate(blocks):
        start = number % len(entries)
        for entry in [*entries[start:], *entries[:start]]:
            if not entry.failed:
                await entry.ask(terms.cap, kind, number, block)


async def _know(entries: Sequence[Entry], blocks: Sequence[Sequence[str]], terms: Terms) -> None:
    """Have the vectors of all questions of a stage, before its first turn."""
    for session in {entry.session.system: entry.session for entry in entries}.values():
        await session.order(terms.cap, do="know", questions=[question for block in blocks for question in block])
