"""The compiled graph in a process of its own: prints seconds, CPU, megabytes, and the seconds to each first word."""

from __future__ import annotations

import asyncio
import os
import sys
import time

from anabranch.agent.graph.answer import graph
from anabranch.agent.nodes.settings import Context
from benchmarks.serving.__main__ import questions_of
from benchmarks.serving.load_test import load


async def _asked(question: str) -> float:
    began, first = time.monotonic(), None
    async for _ in graph.astream({"question": question}, context=Context(), stream_mode="messages"):
        first = first or time.monotonic() - began
    if first is None:
        raise RuntimeError("no word of an answer came")
    return first


async def _main(count: int, at_once: int) -> None:
    await load(_asked, questions_of(at_once), at_once, os.getpid())
    found = await load(_asked, questions_of(count), at_once, os.getpid())
    if found.errors:
        raise SystemExit("\n".join(found.errors[:3]))
    print(found.wall, found.cpu, found.warm, found.end, *found.first_words)


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), int(sys.argv[2])))
