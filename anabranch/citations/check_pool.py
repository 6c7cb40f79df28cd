"""Runs the claim check in its own threads, so that long answers do not block other steps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from anabranch.citations.read_passages import PassageText, read
from anabranch.citations.shared_words import CHECK_SECONDS
from anabranch.citations.time_limit import TimeLimit

WORKERS = 2
"""Concurrent checks in a process: they are pure Python, so more would only share one core."""

T = TypeVar("T")

# Owner: this module. It holds its threads, and the checks of waiting runs.
_pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="claim-check")


async def check(work: Callable[[TimeLimit], T], seconds: float = CHECK_SECONDS) -> T:
    """Run a check in a thread of the pool, and end it if nobody waits for it any more.

    Args:
        work: The check; it must call `spend` of its limit often.
        seconds: Processor time for it.
    """
    limit, context = TimeLimit(seconds), copy_context()
    try:
        return await asyncio.get_running_loop().run_in_executor(_pool, lambda: context.run(work, limit))
    finally:
        # A cancelled run does not wait for its thread, so neither does a server that stops.
        limit.stop()


@asynccontextmanager
async def read_meanwhile(passages: Collection[PassageText]) -> AsyncIterator[None]:
    """Read passages for the check while the model writes; the rest is read with the claims."""
    reading = asyncio.create_task(check(partial(read, passages)))
    try:
        yield
    finally:
        reading.cancel()
        await asyncio.wait([reading])
