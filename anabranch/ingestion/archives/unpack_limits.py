"""Limits of unpacking an archive, against decompression bombs."""

from __future__ import annotations

import time

FLOOR = 32 << 20
"""Bytes that even the smallest archive may unpack to; the ratio applies beyond."""

MOST_MEMBERS = 100_000
MOST_OF_ONE = 1 << 30
"""Most bytes of one member; no reader accepts more."""

MOST_OF_ALL = 32 << 30
RATIO = 200
"""Unpacked bytes per packed byte. Text compresses 3 to 20 times, repetitive logs 100 times."""

SILENCE = 120.0
"""Most processor seconds without a member; bzip2 unpacks 10 to 20 MB in a second."""


class TooMuchError(Exception):
    """The rest of an archive cannot be read; the message names the limit."""


class Allowance:
    """The remaining limits while an archive is unpacked."""

    def __init__(self, packed: int) -> None:
        """Start with an archive of `packed` bytes."""
        # The ratio applies to the whole archive, because a bomb may be one member or a million small ones.
        self._left = min(MOST_OF_ALL, FLOOR + RATIO * packed)
        self._members = 0
        self._began = time.thread_time()

    def restart_clock(self) -> None:
        """Start the time of the next member."""
        self._began = time.thread_time()

    def check(self) -> None:
        """Check the time.

        Raises:
            TooMuchError: This member takes too long.
        """
        if time.thread_time() - self._began > SILENCE:
            raise TooMuchError(f"nothing came out of it in {SILENCE:g} seconds")

    def count(self) -> None:
        """Count one more member.

        Raises:
            TooMuchError: It is one too many.
        """
        self._members += 1
        if self._members > MOST_MEMBERS:
            raise TooMuchError(f"it has more than {MOST_MEMBERS} members")

    def objection(self, size: int, packed: int | None = None) -> str:
        """Return why a member with this declared size is too large; empty if it is not."""
        if size > MOST_OF_ONE:
            return f"it has {size} bytes, more than {MOST_OF_ONE}"
        # Checked by the declared size, to save unpacking; a member that lies about its size is stopped by `spend`.
        if packed is not None and size > FLOOR + RATIO * packed:
            return f"{packed} bytes unpack to {size}"
        if size > self._left:
            return f"the archive unpacks to more than the limit ({RATIO} times its size)"
        return ""

    def spend(self, size: int) -> None:
        """Count unpacked bytes.

        Raises:
            TooMuchError: They exceed the limit.
        """
        self._left -= size
        if self._left < 0:
            raise TooMuchError(f"it unpacks to more than the limit ({RATIO} times its size)")
