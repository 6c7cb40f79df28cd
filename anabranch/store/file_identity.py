"""What a corpus knows a file by from one run to the next, and whether that is gone.

A file is known by its resolved path, a web page by its address, a member of an archive by the archive's path, `!/` and
its own name, a document that was given in code by its id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

GIVEN = "document://"
"""Stands before the id of a document that was given in code, and that no file holds."""

INSIDE = "!/"
"""Stands between an archive and its member."""

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)  # two letters at least: C:// is a drive


def is_url(text: str) -> bool:
    """Tell whether somebody means an address on a network, of whatever scheme, and not a path."""
    return _URL.match(text) is not None


def archives_of(identity: str) -> Iterator[str]:
    """Yield the paths of the archives that it may be in; more than one where a name has `!/` in it."""
    # A folder may be called "a!", so the first `!/` need not be the end of the archive: each of them is tried.
    at = identity.find(INSIDE)
    while at >= 0:
        yield identity[:at]
        at = identity.find(INSIDE, at + 1)


def is_gone(identity: str) -> bool:
    """Tell whether it surely does not exist; what may not be looked at might.

    A web page is never gone, nor is a document that was given in code. A member is gone with its archive; whether the
    archive still has it, only reading it says.
    """
    if is_url(identity) or not _is_absent(Path(identity)):
        return False
    return not any(_may_be_file(Path(archive)) for archive in archives_of(identity))


def _is_absent(path: Path) -> bool:
    try:
        # `lstat` follows no link, and only what is surely not there counts: a drive that does not answer, or a folder
        # that lost its permissions, must not remove documents.
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _may_be_file(path: Path) -> bool:
    return not _is_absent(path) and not path.is_dir()
