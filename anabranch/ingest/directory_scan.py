"""Look through a folder and what symbolic links in it lead to."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from anabranch.readers.corpus_marker import is_corpus, names_in

_THREADS = (".threads.db", ".threads.db-wal", ".threads.db-shm", ".threads.db-journal")
"""Conversations, which lie beside a corpus."""

LEFT_OUT = frozenset({"node_modules", "__pycache__"})
"""Folders whose files no person wrote, by name."""


class Scan:
    """Yields each file below a folder, the place where it really lies, and whether a symbolic link leads to it.

    Attributes:
        entered: The folder and those that links led to, resolved. Links may lead round in circles: each place is
            entered through a link once.
    """

    def __init__(self, root: Path, real: Path, barred: Collection[Path], *, follow_links: bool) -> None:
        """Take the folder, where it really lies, what to leave out, and whether links may lead out of the folder."""
        self._root = root
        self._inside = real
        self._barred = barred
        self._follow_links = follow_links
        self.entered: dict[Path, None] = {self._inside: None}

    def __iter__(self) -> Iterator[tuple[Path, Path, bool]]:
        """Yield files, folders that may not be opened, and corpora; whoever reads one of these says what it is."""
        folders = [(self._root, self._inside, False)]  # a loop, because folders nest deep
        while folders:
            folder, place, is_linked = folders.pop()
            names = names_in(folder)
            if names is None or is_corpus(names):
                yield folder, place, is_linked
                continue
            for name in filter(_counts, names):
                path = folder / name
                real = _resolved(path)
                if real is None:
                    continue
                # Not only where the name itself is a link: somebody may have put one in the folder's place by now.
                through_link = is_linked or real != place / name
                if not self._may_enter(real, through_link=through_link):
                    continue
                if _is_file(path):
                    yield path, real, through_link
                elif path.is_dir() and self._is_new(real, through_link=through_link):
                    folders.append((path, real, through_link))

    def _may_enter(self, real: Path, *, through_link: bool) -> bool:
        if not through_link:
            return real not in self._barred
        if any(real.is_relative_to(place) for place in self._barred):
            return False
        return self._follow_links or real.is_relative_to(self._inside)

    def _is_new(self, real: Path, *, through_link: bool) -> bool:
        if not through_link:
            return True
        is_new = real not in self.entered
        self.entered[real] = None
        return is_new


def _counts(name: str) -> bool:
    return not name.startswith(".") and name not in LEFT_OUT and not name.endswith(_THREADS)


def _resolved(path: Path) -> Path | None:
    """Return where it really lies, None for a link that leads to itself."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return None


def _is_file(path: Path) -> bool:
    """Tell whether it is a file, or may not be looked at: then reading it says so."""
    try:
        return path.is_file()
    except OSError:
        return True
