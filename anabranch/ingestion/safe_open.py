"""Open the file that was found, not one that replaced it since.

Between the walk and the reading, somebody who may write to the folder can replace a file by a link to another place. So
a resolved path is opened folder by folder, and none of them may have become a link.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_UNSAFE_IN_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+')
# Bytes; file systems allow 255 for a name with its suffix.
_LONGEST_STEM = 120

# Windows and some others lack this; there a path is opened as a whole, and only its last part may be checked.
_BY_NAMES = hasattr(os, "O_NOFOLLOW") and os.open in os.supports_dir_fd
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# Non-blocking, because opening a named pipe would wait for ever.
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_OWN = Path("/proc/self/fd")


def safe_stem(name: str, otherwise: str) -> str:
    """Return a name as every file system allows it, or `otherwise` if nothing is left; it may become the title."""
    stem = _UNSAFE_IN_NAMES.sub(" ", name).encode("utf-8", "ignore")[:_LONGEST_STEM].decode("utf-8", "ignore")
    return stem.strip(" .") or otherwise


def open_real(real: Path) -> int:
    """Return a descriptor of the file or folder at a resolved path.

    Raises:
        OSError: It cannot be opened, is of another kind, or a part of the path has become a link.
    """
    try:
        file = _open_without_links(real)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise OSError(error.errno, "a link was put in its place after it was found") from error
        raise
    # Checked on the open file, because the path may have changed.
    mode = os.fstat(file).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is neither a file nor a folder")
    return file


def _open_without_links(real: Path) -> int:
    if not _BY_NAMES:
        return os.open(real, _FILE)
    at = os.open(real.anchor, _FOLDER)
    try:
        # O_NOFOLLOW protects only the last part of a path, so each folder is opened relative to the one before.
        for name in real.parts[1:-1]:
            folder = os.open(name, _FOLDER, dir_fd=at)
            os.close(at)
            at = folder
        return os.open(real.name, _FILE, dir_fd=at)
    finally:
        os.close(at)


@contextmanager
def pin_path(path: Path, real: Path | None) -> Iterator[Path]:
    """Yield a path of the same name to the open file at `real`, whatever replaces it in the meantime.

    Without `/proc/self/fd`, it is `path` itself, checked now.

    Args:
        path: The path, perhaps with links.
        real: The resolved path; None for a file that nobody else can write to.

    Raises:
        OSError: It cannot be opened, or a part of `real` has become a link.
    """
    if real is None:
        yield path
        return
    file = open_real(real)
    try:
        if not _OWN.is_dir():
            yield path
            return
        with tempfile.TemporaryDirectory(prefix="anabranch-") as own:
            # Readers need a path and its suffix; this link has both, and leads to the open file.
            link = Path(own) / path.name
            link.symlink_to(_OWN / str(file))
            yield link
    finally:
        os.close(file)
