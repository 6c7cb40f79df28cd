"""Time that passes at once: deadlines are reached when a server hangs, and not when the machine is busy."""

from __future__ import annotations

import asyncio

from tests.servers.calls import Request
from tests.servers.scripts import Reply, Script

HOUR = 3600.0


class Clock:
    """The time of the running event loop, by which `asyncio.timeout` goes; any thread may let an hour pass."""

    def __init__(self) -> None:
        self._loop, self._ahead = asyncio.get_running_loop(), 0.0
        ticking = self._loop.time
        self._loop.time = lambda: ticking() + self._ahead  # type: ignore[method-assign]

    def skip(self) -> None:
        """Let an hour pass."""
        self._loop.call_soon_threadsafe(self._pass)

    def _pass(self) -> None:
        self._ahead += HOUR


def hurried(script: Script) -> Script:
    """Let an hour pass whenever the script would keep its client waiting for ever."""
    clock = Clock()

    def play(request: Request) -> Reply:
        reply = script(request)
        if reply.hang or reply.endless:
            clock.skip()
        return reply

    return play
