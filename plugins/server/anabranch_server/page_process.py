"""Starts the process that draws pages, sends it orders, and ends it when it hangs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, cast

from anyio import CapacityLimiter, to_thread

from anabranch.errors import OperationError
from anabranch_server.page_limits import SECONDS

COMMAND = (sys.executable, "-P", "-m", "anabranch_server.page_reader")

MOST_ORDERS = 200
"""Orders after which a new process is started, because libraries leak memory."""

REASONS: Mapping[str, str] = {
    "no_file": "The corpus does not say which file this was read from.",
    "web": "This is a web page; its text is shown as it was taken in.",
    "archive": "The file is in an archive; its text is shown as it was taken in.",
    "no_pages": "This format has no pages; its text is shown as it was taken in.",
    "no_page": "The file has no such page.",
    "gone": "The file has been removed since it was taken in; its text is shown as it was.",
    "changed": "The file has changed since it was taken in; its text is shown as it was.",
    "closed": "The server cannot open the file; its text is shown as it was taken in.",
    "protected": "The file is protected by a password; its text is shown as it was taken in.",
    "too_large": "The page is too large to be drawn; its text is shown as it was taken in.",
    "unreadable": "The page cannot be drawn; its text is shown as it was taken in.",
}
"""Messages for readers: why a page is not shown."""


class PageProcess:
    """A process that draws pages one at a time, started when it is needed."""

    def __init__(self, command: Sequence[str] = COMMAND, seconds: float = SECONDS) -> None:
        """Start nothing yet.

        Args:
            command: Command of the process.
            seconds: Most seconds for one order.
        """
        self._command = command
        self._seconds = seconds
        self._one = CapacityLimiter(1)
        self._lock = threading.Lock()
        self._popen: subprocess.Popen[bytes] | None = None
        self._orders = 0

    async def order(self, order: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Have an order carried out (`page_reader.obey`).

        If the process dies or hangs, it is ended and the reply is the reason `unreadable`.

        Raises:
            OperationError: No process can be started.
        """
        # In a thread, because the pipes block. The own limiter keeps waiting orders off the threads that the rest of
        # the server shares.
        return await to_thread.run_sync(self._carry_out, order, limiter=self._one)

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._end()

    def _carry_out(self, order: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        with self._lock:
            if self._popen is None or self._popen.poll() is not None or self._orders >= MOST_ORDERS:
                self._end()
                self._popen, self._orders = _start(self._command), 0
            self._orders += 1
            watch = threading.Timer(self._seconds, self._popen.kill)
            watch.start()
            try:
                return _exchange(self._popen, order)
            except (OSError, ValueError):
                self._end()
                return {"reason": "unreadable"}, b""
            finally:
                watch.cancel()

    def _end(self) -> None:
        if self._popen is not None:
            self._popen.kill()
            self._popen.communicate()
            self._popen = None


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    # Without the server's environment, which holds keys that an exploit of the library could read.
    environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "SYSTEMROOT") if name in os.environ}
    try:
        return subprocess.Popen(  # noqa: S603  # our own program
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, "MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,
        )
    except OSError as error:
        msg = f"No process can be started to draw pages: {error.strerror}."
        raise OperationError(msg, hint="Try again.") from error


def _exchange(process: subprocess.Popen[bytes], order: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    stdin, stdout = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
    stdin.write(json.dumps(dict(order)).encode() + b"\n")
    stdin.flush()
    reply: dict[str, Any] = json.loads(stdout.readline())
    picture = stdout.read(reply.pop("bytes"))
    return reply, picture
