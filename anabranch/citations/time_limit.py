"""Processor time for the check of an answer, and an end to it where nobody waits any more."""

from __future__ import annotations

import time


class TimeIsUp(Exception):  # noqa: N818  # no error: what was not checked says so
    """The check has used its time, or nobody waits for it."""


class TimeLimit:
    """What one check may use, counted in the thread that works on it.

    A check has no other way to end early: a thread cannot be stopped from outside.
    """

    def __init__(self, seconds: float) -> None:
        """Begin with so many seconds of processor time; they count from the first call of `spend`."""
        self._seconds = seconds
        self._end: float | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End the check at its next call of `spend`; from any thread."""
        self._is_stopped = True

    def spend(self) -> None:
        """Go on, if there is time.

        Raises:
            TimeIsUp: There is none left, or the check was stopped.
        """
        now = time.thread_time()
        if self._end is None:
            self._end = now + self._seconds
        if self._is_stopped or now >= self._end:
            raise TimeIsUp
