"""Which files of a server's disk its callers may have taken in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class IngestRoot:
    """The folder that a caller's paths count from, and what is closed in it.

    Attributes:
        folder: Resolved.
        own: Where what this caller has sent is kept, resolved: open to them, though it lies among what is hidden.
    """

    def __init__(self, folder: Path, own: str, *, is_open: bool, closed: Iterable[str | Path] = ()) -> None:
        """Look at what is there.

        Args:
            folder: The root.
            own: The caller's uploads, from there.
            is_open: Whether what else is in the root may be read, because the operator has named it.
            closed: Files and folders that may not, whoever asks: what says who may ask, and what was asked.
        """
        self.folder = folder.resolve()
        self.own = (folder / own).resolve()
        self._is_open = is_open
        # By what they are and not by their names: there are links, and file systems that do not tell capitals.
        self._closed = {known for place in closed if (known := _identity(Path(place))) is not None}

    def admits(self, real: Path) -> bool:
        """Tell whether a path without links may be read; nothing below a name that begins with a dot may."""
        top = self.own if real.is_relative_to(self.own) else self.folder
        if not real.is_relative_to(top) or (top != self.own and not self._is_open):
            return False
        below = real.relative_to(top).parts
        if any(part.startswith(".") for part in below):
            return False
        return not self._closed or self._closed.isdisjoint(
            _identity(top.joinpath(*below[:depth])) for depth in range(1, len(below) + 1)
        )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):  # not there, or the address of a database
        return None
    return found.st_dev, found.st_ino
