"""Limits of time and memory for reading one file, which the operating system enforces."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import ReadingError, SettingsError

LEAST_BYTES = 256 << 20
"""Memory of an idle process."""

_PR_SET_PDEATHSIG = 1
_SIGKILL = 9
GRACE = 30.0
"""Seconds beyond the limit, which the parent enforces as long as it lives."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one file.

    Attributes:
        seconds: Longest time without a document or a heartbeat of the reader.
        bytes: Most memory (address space) of the process that reads the file. Enforced on Linux and the BSDs, but not
            on Windows and macOS.
    """

    seconds: float = 120.0
    bytes: int = 2 << 30

    def __post_init__(self) -> None:
        """Refuse limits that no file can meet.

        Raises:
            SettingsError: No time, or less memory than an idle process has.
        """
        if not self.seconds > 0 or self.bytes < LEAST_BYTES:
            msg = f"No file can be read within {self.seconds!r} seconds and {self.bytes!r} bytes of memory."
            raise SettingsError(msg, hint=f"Give more than 0 seconds and at least {LEAST_BYTES} bytes.")


def too_much_memory(source: str, limits: Limits) -> ReadingError:
    """Return the error for a file that needs too much memory."""
    msg = f"reading {source!r} took more than {limits.bytes >> 20} MB of memory."
    return ReadingError(msg, reason="memory", hint="Split the file, unless it is malicious.")


def confine(limits: Limits) -> None:
    """Apply the limits to this process for good, and make it end with its parent."""
    # On other systems, `end_after` ends an orphan.
    if sys.platform == "linux":
        _end_with_parent()
    if sys.platform != "win32":
        import resource

        _set_limit(resource.RLIMIT_CORE, 0)  # a crash leaves no copy of a document on the disk
        _set_limit(resource.RLIMIT_AS, limits.bytes)


def used_bytes() -> int:
    """Return the memory of this process as the limit counts it; if unknown, its peak, or 0."""
    with suppress(OSError):
        # Address space, as RLIMIT_AS counts it, and not what is resident.
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        return pages * os.sysconf("SC_PAGE_SIZE")
    if sys.platform != "win32":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return 0


def end_after(seconds: float) -> None:
    """End this process after some seconds, whatever it does; 0 for never. The last call counts.

    Without this, a process that hangs in a library would outlive a killed parent, except on Linux.
    """
    # A system timer with an unhandled signal, because a hanging library may hold the GIL and block every thread.
    # Windows has none.
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _set_limit(kind: int, most: int) -> None:
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
