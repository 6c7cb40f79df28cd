"""One phase of one system, in a process of its own: `python -m benchmarks.at_scale.session JOB.json`.

What it finds out is written as it goes, a line of JSON at a time, so that a process that is stopped has told what it
knew. It runs in the peers' environment, too: nothing of Anabranch or its dependencies is imported here.
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from benchmarks.at_scale.exact import recall
from benchmarks.at_scale.gauges import cpu_seconds, megabytes, memory, timed
from benchmarks.at_scale.material import Material, limit
from benchmarks.at_scale.systems import REQUIREMENTS, K, System, system_of

ADDING = 120.0
"""Seconds after which no further document is added."""


class Session:
    """A system, the material, and where to write figures."""

    def __init__(self, job: dict[str, Any], told: TextIO) -> None:
        """Import the system, which takes the time that it takes."""
        self._told = told
        self._searches = int(job["searches"])
        self.material, self.folder = Material(Path(job["material"])), Path(job["folder"])
        began = time.perf_counter()
        self.system: System = system_of(job["system"], self.material, self.folder, job["settings"])
        self.imports = time.perf_counter() - began
        self.versions = {name: version(name) for name in REQUIREMENTS[job["system"]]}

    def tell(self, **facts: object) -> None:
        """Write facts down at once."""
        self._told.write(json.dumps(facts) + "\n")
        self._told.flush()

    async def build(self) -> None:
        """Build, and tell what it took."""
        self.tell(versions=self.versions)
        self.system.prepare()
        before = memory().get("private", 0.0)
        began, used = time.perf_counter(), cpu_seconds()
        await self.system.build()
        seconds, used = time.perf_counter() - began, cpu_seconds() - used
        peak, disk = memory()["peak"], megabytes(self.folder)
        self.tell(build=seconds, build_cpu=used, build_peak=peak, before_build=before, disk=disk)

    async def search(self) -> None:
        """Open, search, and search with filters."""
        self.system.prepare()
        before = memory()
        began, used = time.perf_counter(), cpu_seconds()
        await self.system.open()
        opened = time.perf_counter() - began
        await self.system.search("hybrid", self.material.questions[0])
        answered, used = time.perf_counter() - began, cpu_seconds() - used
        self.tell(
            imports=self.imports, opened=opened, answered=answered, answered_cpu=used, before=before,
            after_open=memory(),
        )  # fmt: skip
        questions = self.material.questions[: self._searches]
        found = {arm: await self._arm(arm, questions) for arm in self.system.arms}
        self.tell(after_search=memory())
        narrowed = [
            (arm, share, await self._filtered(arm, share, questions))
            for share in self.material.shares
            for arm in self.system.filtered(share)
        ]
        self.tell(after_all=memory())
        rows = await self.system.rows(found["dense"])
        self.tell(recall=recall(rows, self.material.nearest[1.0]))
        await self._checked([each for each in narrowed if each[2]])

    async def _arm(self, arm: str, questions: Sequence[str]) -> list[Any]:
        results, p50, p95, cpu = await timed(self._calls(arm, questions, None))
        self.tell(search={"arm": arm, "p50": p50, "p95": p95, "cpu": cpu, "asked": len(results)})
        return results

    async def _filtered(self, arm: str, share: float, questions: Sequence[str]) -> list[Any]:
        calls = self._calls(arm, questions, share)
        began = time.perf_counter()
        try:
            await calls[0]()
        except Exception as error:  # noqa: BLE001  # a peer that cannot says so in its own way, and the table repeats it
            self.tell(filtered={"arm": arm, "share": share, "refused": f"{type(error).__name__}: {error}"[:120]})
            return []
        first = (time.perf_counter() - began) * 1000
        results, p50, p95, cpu = await timed(calls, longest=30.0)
        self.tell(filtered={"arm": arm, "share": share, "first": first, "p50": p50, "p95": p95, "cpu": cpu})
        return results

    def _calls(self, arm: str, questions: Sequence[str], share: float | None) -> list[Callable[[], Awaitable[object]]]:
        return [partial(self.system.search, arm, question, share) for question in questions]

    async def _checked(self, narrowed: Sequence[tuple[str, float, list[Any]]]) -> None:
        """Tell how many results passed each filter, of those that could, and how near they are."""
        buckets = np.fromiter((each["bucket"] for each in self.material.passages()), dtype=np.int64)
        for arm, share, results in narrowed:
            rows, passing = await self.system.rows(results), buckets < limit(share)
            right = [[row for row in each if passing[row]] for each in rows]
            facts: dict[str, Any] = {"arm": arm, "share": share, "allowed": int(passing.sum())}
            facts["back"] = statistics.fmean(map(len, right))
            facts["foreign"] = statistics.fmean(map(len, rows)) - facts["back"]
            if arm.startswith("dense"):
                facts["recall"] = recall(right, self.material.nearest[share])
            self.tell(checked=facts)

    async def add(self) -> None:
        """Add documents, one by one, and tell how long it was until both arms found each, and until it was saved."""
        self.system.prepare()
        await self.system.open()
        await self.system.search("hybrid", self.material.questions[0])
        found, saved, cpu, end = [], [], [], time.perf_counter() + ADDING
        for number in range(len(self.material.added)):
            if number and time.perf_counter() > end:
                break
            await self.system.ready(number)
            began, used = time.perf_counter(), cpu_seconds()
            if not await self.system.add(number):
                raise RuntimeError(f"the added document {number} is not found")
            found.append(time.perf_counter() - began)
            await self.system.save()
            saved.append(time.perf_counter() - began)
            cpu.append(cpu_seconds() - used)
            lists = {"found": found, "saved": saved, "cpu": cpu}
            self.tell(add={name: statistics.median(each) for name, each in lists.items()} | {"count": len(found)})

    async def agree(self) -> None:
        """Compare the BM25 scores with those of `rank_bm25` over the same terms."""
        from benchmarks.at_scale.agreement import compared

        await self.system.open()
        self.tell(agreement=await compared(self.folder, self.material, self._searches, K))


def main(job_file: str) -> int:
    """Run the job in the file; exit code 1 with the reason in the figures where it fails."""
    job = json.loads(Path(job_file).read_text("utf-8"))
    if job["megabytes"]:
        # What a process asks for past this, it is refused; without it, the machine would stand still.
        resource.setrlimit(resource.RLIMIT_DATA, (int(job["megabytes"] * 1e6),) * 2)
    with Path(job["told"]).open("a", encoding="utf-8") as told:
        try:
            session = Session(job, told)
            asyncio.run(getattr(session, job["phase"])())
        except MemoryError:
            told.write(json.dumps({"failed": f"needs more than {job['megabytes'] / 1000:.0f} GB of memory"}) + "\n")
            return 1
        except Exception as error:  # noqa: BLE001  # whatever a system raises is its row in the table
            told.write(json.dumps({"failed": f"{type(error).__name__}: {error}"[:200]}) + "\n")
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
