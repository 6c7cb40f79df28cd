"""How much an archive may unpack to: bombs are small files that do not stop."""

from __future__ import annotations

import time

FLOOR = 32 << 20
"""Bytes that even the smallest archive may unpack to; the ratio counts from here."""

MOST_MEMBERS = 100_000
MOST_OF_ONE = 1 << 30
"""Bytes of one member; no reader takes more."""

MOST_OF_ALL = 32 << 30
RATIO = 200
"""Bytes out per byte in. Text packs 3 to 20 times smaller, repetitive logs 100 times."""

SILENCE = 120.0
"""Seconds of processor time without a member; a gigabyte of bzip2 takes one of them for each 10 to 20 MB."""


class TooMuchError(Exception):
    """The rest of an archive cannot be taken in; the message says which bound it is over."""


class Allowance:
    """What is left of the bounds while an archive is unpacked."""

    def __init__(self, packed: int) -> None:
        """Start with an archive of `packed` bytes."""
        # The ratio counts for the archive as a whole: a bomb may be one member or a million small ones.
        self._left = min(MOST_OF_ALL, FLOOR + RATIO * packed)
        self._members = 0
        self._began = time.thread_time()

    def rest(self) -> None:
        """Begin to count the time of the next member; what was done for others since the last one does not count."""
        self._began = time.thread_time()

    def check(self) -> None:
        """Look at the time.

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
        """Say why a member that is `size` bytes by its own account is too large; empty if it is not."""
        if size > MOST_OF_ONE:
            return f"it has {size} bytes, over {MOST_OF_ONE}"
        # By its own account: a member that lies about its size is stopped by `spend`, this one spares unpacking it.
        if packed is not None and size > FLOOR + RATIO * packed:
            return f"{packed} bytes unpack to {size}"
        if size > self._left:
            return f"the archive unpacks to more than it may ({RATIO} times its size)"
        return ""

    def spend(self, size: int) -> None:
        """Count bytes that came out.

        Raises:
            TooMuchError: They are more than what is left.
        """
        self._left -= size
        if self._left < 0:
            raise TooMuchError(f"it unpacks to more than it may ({RATIO} times its size)")
