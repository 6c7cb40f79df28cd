"""The identity of a file from one run to the next, and whether the file is gone.

A file is known by its resolved path, a web page by its address, a member of an archive by the archive's path, `!/` and
its own name, a document that was given in code by its id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

GIVEN = "document://"
"""Prefix of the id of a document given in code, which no file holds."""

INSIDE = "!/"
"""Separates an archive from its member."""

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)  # two letters at least: C:// is a drive


def is_url(text: str) -> bool:
    """Tell whether text is an address on a network, of any scheme, and not a path."""
    return _URL.match(text) is not None


def archives_of(identity: str) -> Iterator[str]:
    """Yield the paths of the archives that may hold it; several if a name contains `!/`."""
    # A folder may be called "a!", so every `!/` may be the end of the archive.
    at = identity.find(INSIDE)
    while at >= 0:
        yield identity[:at]
        at = identity.find(INSIDE, at + 1)


def is_gone(identity: str) -> bool:
    """Tell whether a file certainly does not exist; one that cannot be looked at may exist.

    A web page is never gone, nor is a document that was given in code. A member is gone with its archive; whether the
    archive still has it, only reading it says.
    """
    if is_url(identity) or not _is_absent(Path(identity)):
        return False
    return not any(_may_be_file(Path(archive)) for archive in archives_of(identity))


def _is_absent(path: Path) -> bool:
    try:
        # `lstat` follows no link, and other errors do not count: a drive that does not answer, or a folder without
        # permissions, must not remove documents.
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _may_be_file(path: Path) -> bool:
    return not _is_absent(path) and not path.is_dir()
