"""The files of a server that its users may ingest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class IngestRoot:
    """The folder to which a user's paths are relative, and what is closed in it.

    Attributes:
        folder: Resolved.
        own: The user's uploads, resolved: open to them, although they lie in a hidden folder.
    """

    def __init__(self, folder: Path, own: str, *, is_open: bool, closed: Iterable[str | Path] = ()) -> None:
        """Resolve the folders.

        Args:
            folder: The root.
            own: The user's uploads, relative to the root.
            is_open: Whether other files in the root may be read, because the operator has set it.
            closed: Files and folders that nobody may read, such as the list of keys and the stored threads.
        """
        self.folder = folder.resolve()
        self.own = (folder / own).resolve()
        self._is_open = is_open
        # Compared by inode, because of links and of file systems that ignore case.
        self._closed = {known for place in closed if (known := _identity(Path(place))) is not None}

    def admits(self, real: Path) -> bool:
        """Tell whether a resolved path may be read; nothing below a name that begins with a dot may."""
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
