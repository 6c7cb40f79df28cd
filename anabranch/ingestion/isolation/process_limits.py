"""What one file may cost: a bound on time and memory, kept by the system and not by the reader's good manners."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import ReadingError, SettingsError

LEAST_BYTES = 256 << 20
"""What a process needs before it has read anything."""

_PR_SET_PDEATHSIG = 1
_SIGKILL = 9
GRACE = 30.0
"""Seconds beyond the limit, which the parent keeps as long as it lives."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for one file.

    Attributes:
        seconds: Longest silence: without a document, and without a sign of life from a reader at work on a long file.
        bytes: Most memory of the process that reads it (address space). Kept on Linux and the BSDs; Windows and macOS
            have no such bound, there only `seconds` holds.
    """

    seconds: float = 120.0
    bytes: int = 2 << 30

    def __post_init__(self) -> None:
        """Refuse bounds that no file could keep.

        Raises:
            SettingsError: No time, or less memory than an idle process has.
        """
        if not self.seconds > 0 or self.bytes < LEAST_BYTES:
            msg = f"No file can be read within {self.seconds!r} seconds and {self.bytes!r} bytes of memory."
            raise SettingsError(msg, hint=f"Give more than 0 seconds and at least {LEAST_BYTES} bytes.")


def too_much_memory(source: str, limits: Limits) -> ReadingError:
    """Return what is said of a file that does not fit."""
    msg = f"reading {source!r} took more than {limits.bytes >> 20} MB of memory."
    return ReadingError(msg, reason="memory", hint="Split it; or it is made to do harm.")


def confine(limits: Limits) -> None:
    """Put this process under the limits for good, and make it end with the one that started it."""
    # Elsewhere a process does not end with its parent; there is `end_after`.
    if sys.platform == "linux":
        _end_with_parent()
    if sys.platform != "win32":
        import resource

        _bound(resource.RLIMIT_CORE, 0)  # a crash leaves no copy of a document on the disk
        _bound(resource.RLIMIT_AS, limits.bytes)


def used_bytes() -> int:
    """Return the memory of this process as its limit counts it; elsewhere the most it ever held, or 0."""
    with suppress(OSError):
        # Address space, as RLIMIT_AS counts it, and not what is resident.
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        return pages * os.sysconf("SC_PAGE_SIZE")
    if sys.platform != "win32":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return 0


def end_after(seconds: float) -> None:
    """End this process so many seconds from now, whatever it is at; 0 for never. The last call counts.

    A process that hangs in a library would outlive a parent that was killed, except on Linux, which ends both.
    """
    # A clock of the system, whose signal nobody handles: a library that hangs may hold the interpreter's lock, and no
    # thread of Python would get to look at the time. Windows has none; there such a process stays.
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _bound(kind: int, most: int) -> None:
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):  # systems that know the name and not the limit
            resource.setrlimit(kind, (most, most))


def _end_with_parent() -> None:
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL)
