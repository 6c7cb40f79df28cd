"""One system in a process of its own: `python -m benchmarks.answering.session JOB.json`.

What it finds out is written as it goes, a line of JSON at a time, so that a process that is stopped has told what it
knew. It runs in the peers' environment, too: nothing of Anabranch or its dependencies is imported here.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from benchmarks.answering.material import Asked
from benchmarks.answering.rows import REQUIREMENTS, Row, rows_of
from benchmarks.answering.stopwatch import watched
from benchmarks.answering.systems import System, system_of

ASTRAY = 10
"""Questions in a row that may be answered in another way than the row is about."""


class Session:
    """A system, its questions, and where to write figures."""

    def __init__(self, job: dict[str, Any], told: TextIO) -> None:
        """Import the system."""
        self._job, self._told = job, told
        asked = Asked(Path(job["material"]), Path(job["queries"]))
        # Each is asked once: a system may keep an answer.
        self._questions: Iterator[str] = iter(asked.by_question)
        self._system: System = system_of(job["system"], asked, Path(job["folder"]), job["base_url"])

    def tell(self, **facts: object) -> None:
        """Write facts down at once."""
        self._told.write(json.dumps(facts) + "\n")
        self._told.flush()

    async def run(self) -> None:
        """Build, and measure row after row; a row that fails does not end the others."""
        self.tell(versions={name: version(name) for name in REQUIREMENTS[self._job["system"]]})
        await self._system.build()
        for row in rows_of(self._job["system"]):
            for saver in self._system.savers if row.pipeline in self._job["pipelines"] else ():
                try:
                    await self._row(row, saver)
                except Exception as error:  # noqa: BLE001  # whatever a system raises is its row in the table
                    self.tell(row=row.name, saver=saver, failed=f"{type(error).__name__}: {error}"[:300])

    async def _row(self, row: Row, saver: str) -> None:
        await self._system.ready(row, saver)
        # The first turn only warms up: imports, connections, caches.
        warm = await self._turn(row, saver, tell=False) if self._job["warm"] else 0
        for _ in range(self._job["repeats"]):
            warm = await self._turn(row, saver) or warm
        if warm:
            idle = [await self._system.idle(warm) for _ in range(4)][1:]
            self.tell(row=row.name, saver=saver, idle=idle)
        if row.together and saver == self._system.savers[0]:
            for _ in range(self._job["rounds"]):
                await self._together(row, saver)

    async def _turn(self, row: Row, saver: str, *, tell: bool = True) -> int:
        """Ask one question; return the steps that it took."""
        went: list[str] = []
        for question in itertools.islice(self._questions, ASTRAY):
            await self._system.know(question)
            async with watched() as watch:
                answer = await self._system.ask(question)
                watch.end()
            if not answer.astray and answer.text:
                if tell:
                    self.tell(row=row.name, saver=saver, turn=watch.facts(), first=answer.first, steps=answer.steps)
                return answer.steps
            went.append(answer.astray or "no answer")
        raise RuntimeError(f"no question went as it should: {went!r}")

    async def _together(self, row: Row, saver: str) -> None:
        questions: list[str] = []
        for question in self._questions:
            await self._system.know(question)
            # Asked alone first: no question is in the passages, and where nothing is found none is rightly answered.
            answer = await self._system.ask(question)
            if answer.text and not answer.astray:
                questions.append(question)
            if len(questions) == self._job["together"]:
                break
        else:
            raise RuntimeError("there are too few questions")
        async with watched() as watch:
            answers = await asyncio.gather(*(self._system.ask(question) for question in questions))
            watch.end()
        answered = sum(bool(answer.text) and not answer.astray for answer in answers)
        self.tell(row=row.name, saver=saver, together=watch.facts(), asked=len(questions), answered=answered)


def main(job_file: str) -> int:
    """Run the job in the file; exit code 1 with the reason in the figures where it fails."""
    job = json.loads(Path(job_file).read_text("utf-8"))
    with Path(job["told"]).open("a", encoding="utf-8") as told:
        try:
            asyncio.run(Session(job, told).run())
        except Exception as error:  # noqa: BLE001  # whatever a system raises is told
            told.write(json.dumps({"failed": f"{type(error).__name__}: {error}"[:300]}) + "\n")
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
