"""How much an archive may unpack to: bombs are small files that do not stop."""

from __future__ import annotations

from dataclasses import dataclass

FLOOR = 32 << 20
"""Bytes that even the smallest archive may unpack to; the ratio counts from here."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Bounds of one archive.

    Attributes:
        members: How many it may have.
        member: Bytes of one of them; no reader takes more.
        total: Bytes of all of them.
        ratio: Bytes out per byte in. Text packs 3 to 20 times smaller, repetitive logs 100 times.
    """

    members: int = 100_000
    member: int = 1 << 30
    total: int = 32 << 30
    ratio: int = 200


CAPS = Caps()


class TooMuchError(Exception):
    """The rest of an archive cannot be taken in; the message says which bound it is over."""


class Allowance:
    """What is left of the bounds while an archive is unpacked."""

    def __init__(self, caps: Caps, packed: int) -> None:
        """Start with an archive of `packed` bytes."""
        self._caps = caps
        # The ratio counts for the archive as a whole: a bomb may be one member or a million small ones.
        self._left = min(caps.total, FLOOR + caps.ratio * packed)
        self._members = 0

    def count(self) -> None:
        """Count one more member.

        Raises:
            TooMuchError: It is one too many.
        """
        self._members += 1
        if self._members > self._caps.members:
            raise TooMuchError(f"it has more than {self._caps.members} members")

    def objection(self, size: int, packed: int | None = None) -> str:
        """Say why a member that is `size` bytes by its own account is too large; empty if it is not.

        Args:
            size: Unpacked.
            packed: As it lies in the archive, where that is known.
        """
        if size > self._caps.member:
            return f"it has {size} bytes, over {self._caps.member}"
        # By its own account: a member that lies about its size is stopped by `spend`, this one spares unpacking it.
        if packed is not None and size > FLOOR + self._caps.ratio * packed:
            return f"{packed} bytes unpack to {size}"
        if size > self._left:
            return f"the archive unpacks to more than it may ({self._caps.ratio} times its size)"
        return ""

    def spend(self, size: int) -> None:
        """Count bytes that came out.

        Raises:
            TooMuchError: They are more than what is left.
        """
        self._left -= size
        if self._left < 0:
            raise TooMuchError(f"it unpacks to more than it may ({self._caps.ratio} times its size)")
