"""The threads of the check: their own, few, and waited for by nobody who was cancelled."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from anabranch.citations.check_pool import WORKERS, check
from anabranch.citations.time_limit import TimeIsUp, TimeLimit

word: ContextVar[str] = ContextVar("word")


async def test_a_check_gives_its_result_and_sees_its_caller() -> None:
    word.set("here")
    assert await check(lambda _: word.get()) == "here"


async def test_a_check_has_its_seconds() -> None:
    def work(limit: TimeLimit) -> str:
        try:
            while True:
                limit.spend()
        except TimeIsUp:
            return "over"

    assert await check(work, 0.05) == "over"


async def test_a_cancelled_check_is_not_waited_for_and_ends() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(limit: TimeLimit) -> None:
        begun.set()
        try:
            while True:
                limit.spend()
        finally:
            ended.set()

    running = asyncio.create_task(check(work, 3600))
    assert await asyncio.to_thread(begun.wait, 60)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await asyncio.to_thread(ended.wait, 60)


async def test_many_checks_take_no_thread_from_other_steps() -> None:
    release, full = threading.Event(), threading.Event()
    most, running = 0, 0
    lock = threading.Lock()

    def work(_: TimeLimit) -> None:
        nonlocal most, running
        with lock:
            running += 1
            most = max(most, running)
            if running == WORKERS:
                full.set()
        release.wait(60)
        with lock:
            running -= 1

    checks = [asyncio.create_task(check(work)) for _ in range(40)]
    assert await asyncio.to_thread(full.wait, 60)
    # The default pool, which every question needs, has as many threads as cores and four: all of them are free.
    assert await asyncio.to_thread(lambda: "free") == "free"
    release.set()
    await asyncio.gather(*checks)
    assert most == WORKERS
