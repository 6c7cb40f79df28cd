"""What the file system says of a file: evidence that it has not changed, for the price of one look.

A stamp is trusted only where a change cannot have left it as it was. A file that was written to a moment before it was
read could be written to again within the same tick of the file system's clock; Git calls that racy and looks at the
content, and so do we. In doubt there is no stamp, which costs a hash.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from pathlib import Path

from anabranch.ingest import safe_open as handles

_SECOND = 1_000_000_000
_MARGIN = 2 * _SECOND
"""The coarsest clock of a file system in use (FAT) ticks every two seconds."""

_MARGIN_ELSEWHERE = 86_400 * _SECOND
"""For another file system than the corpus's, whose clock we cannot ask: it may be a server's, and go wrong."""


def stamp_of(path: Path) -> str:
    """Return size, times of change and inode of a file.

    Raises:
        OSError: It cannot be looked at.
    """
    return _stamp(path.stat())


def lasting_stamp(path: Path, folder: Path) -> str:
    """Return the stamp of a file that is about to be read, empty if it could outlive a change.

    Args:
        path: The file.
        folder: Where a file may be made for a moment to see what time the file system thinks it is: the corpus.

    Raises:
        OSError: The file cannot be looked at.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            now = os.fstat(probe.fileno())
    except OSError:  # a full disk is told by whoever has something to write
        return ""
    seen = path.stat()
    changed = max(seen.st_mtime_ns, seen.st_ctime_ns)
    is_near = seen.st_dev == now.st_dev
    settled = changed < (now.st_mtime_ns - _MARGIN if is_near else time.time_ns() - _MARGIN_ELSEWHERE)
    return _stamp(seen) if settled and _tells_changes(seen) else ""


def sha256_of(path: Path, real: Path | None = None) -> str:
    """Return the hash of a file's bytes, in hexadecimal.

    Args:
        path: The file.
        real: Where it lay when it was found, behind all links.

    Raises:
        OSError: It cannot be read, or a link was put in its place.
    """
    with path.open("rb") if real is None else os.fdopen(handles.open_real(real), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _stamp(seen: os.stat_result) -> str:
    return f"{seen.st_size}:{seen.st_mtime_ns}:{seen.st_ctime_ns}:{seen.st_ino}"


def _tells_changes(seen: os.stat_result) -> bool:
    """Tell whether the time of change is one: it is what programs that set other times back cannot set.

    On Windows it is the time of birth; file systems of whole seconds (FAT, some network shares) make it up.
    """
    return os.name == "posix" and seen.st_ctime_ns % _SECOND != 0
