"""One system in a process of its own: `python -m benchmarks.answering.session JOB.json`.

It reads orders, a line of JSON each, and answers each with another, so that the systems can take turns. It runs in the
peers' environment, too: nothing of Anabranch or its dependencies is imported here.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.answering.material import Asked
from benchmarks.answering.rows import REQUIREMENTS, rows_of
from benchmarks.answering.stopwatch import watched
from benchmarks.answering.systems import Answer, Ask, System, system_of

Facts = dict[str, Any]


class Session:
    """A system and its rows; each method is an order, and returns what is told."""

    def __init__(self, job: Facts) -> None:
        """Import the system."""
        self._name: str = job["system"]
        asked = Asked(Path(job["material"]), Path(job["queries"]))
        self._system: System = system_of(self._name, asked, Path(job["folder"]), job["base_url"])
        self._rows = {row.name: row for row in rows_of(self._name)}
        self._ask: dict[tuple[str, str], Ask] = {}

    async def build(self) -> Facts:
        """Take in the passages."""
        await self._system.build()
        return {"versions": {name: version(name) for name in REQUIREMENTS[self._name]}}

    async def know(self, questions: Sequence[str]) -> Facts:
        """Have the vectors of all queries of these questions."""
        await self._system.know(questions)
        return {}

    async def ready(self, row: str, saver: str) -> Facts:
        """Make what answers a row."""
        self._ask[row, saver] = await self._system.ready(self._rows[row], saver)
        return {}

    async def turn(self, row: str, saver: str, questions: Sequence[str], *, beat: bool) -> Facts:
        """Ask questions, all at once."""
        ask = self._ask[row, saver]
        async with watched(beat=beat) as watch:
            answers = await asyncio.gather(*map(ask, questions))
            watch.end()
        return {"watch": watch.facts(), "answers": [_told(answer) for answer in answers]}

    async def idle(self, saver: str, steps: int) -> Facts:
        """Measure as many steps that do nothing; the first time counts for nothing."""
        return {"idle": [await self._system.idle(saver, steps) for _ in range(4)][1:]}

    async def obey(self, order: Facts) -> Facts:
        """Do what an order says; whatever a system raises is told."""
        try:
            told: Facts = await getattr(self, order.pop("do"))(**order)
        except Exception as error:  # noqa: BLE001  # it is its row in the table
            return {"failed": f"{type(error).__name__}: {error}"[:300]}
        return told


def _told(answer: Answer) -> Facts:
    return {"first": answer.first, "steps": answer.steps, "astray": answer.astray or ("" if answer.text else "empty")}


async def main(job: Facts) -> None:
    """Obey until there are no more orders."""
    # What a system prints must not stand among what is told.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as told:
        os.dup2(2, 1)
        session = Session(job)
        orders = asyncio.StreamReader(limit=2**24)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
        while line := await orders.readline():
            told.write(json.dumps(await session.obey(json.loads(line))) + "\n")
            told.flush()


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
