"""Limits the processor time of a claim check, and ends a check for which nobody waits."""

from __future__ import annotations

import time


class TimeIsUp(Exception):  # noqa: N818  # no error: unchecked claims are marked
    """The check has used its time, or nobody waits for it."""


class TimeLimit:
    """The processor time of one check, in its own thread, which cannot be stopped from outside."""

    def __init__(self, seconds: float) -> None:
        """Set the seconds of processor time, counted from the first call of `spend`."""
        self._seconds = seconds
        self._end: float | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End the check at its next call of `spend`; from any thread."""
        self._is_stopped = True

    def spend(self) -> None:
        """Check that there is time left.

        Raises:
            TimeIsUp: There is no time left, or the check was stopped.
        """
        now = time.thread_time()
        if self._end is None:
            self._end = now + self._seconds
        if self._is_stopped or now >= self._end:
            raise TimeIsUp
