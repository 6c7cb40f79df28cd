"""Checks an opened index by checksum: a small one at once, a large one while it is already being searched."""

from __future__ import annotations

import threading
import weakref
from pathlib import Path

from anabranch.models.lru import LRU
from anabranch.store.index.segment import Segment, damage_error
from anabranch.store.index.segment_index import Index

AT_ONCE = 48 << 20
"""Segments up to this size are checked before the first search, which takes some 50 milliseconds."""

_checked = LRU[str, tuple[tuple[int, ...], str | None]](4_096)
"""The file times of each checked segment, by folder, and its damage: segments are immutable, so one check is enough."""


class Watch:
    """Reports damaged files of an index, as far as they have been read by now."""

    def __init__(self, index: Index) -> None:
        """Check the small segments, and start checking the large ones.

        Raises:
            IndexDamagedError: A small segment is damaged, or a large one was found damaged earlier.
        """
        self.problem: str | None = None
        self._thread: threading.Thread | None = None
        large = [segment for segment in index.segments if _last_check(segment) is None and _size(segment) > AT_ONCE]
        for segment in index.segments:
            if segment not in large:
                self._note(_checked_now(segment))
        self.check()
        # A daemon thread, not one of a pool: it reads for seconds, and exiting must not wait for it.
        if large:
            self._thread = threading.Thread(target=_check_all, args=(weakref.ref(self), large), daemon=True)
            self._thread.start()

    def check(self) -> None:
        """Raise what was found.

        Raises:
            IndexDamagedError: A file is not what was written.
        """
        if self.problem is not None:
            raise damage_error(f"The index is damaged: {self.problem}.")

    def check_all(self) -> None:
        """Wait until everything has been read, and raise what was found.

        Raises:
            IndexDamagedError: A file is not what was written.
        """
        if self._thread is not None:
            self._thread.join()
        self.check()

    def _note(self, problem: str | None) -> None:
        self.problem = self.problem or problem


def _check_all(watch: weakref.ref[Watch], segments: list[Segment]) -> None:
    for segment in segments:
        # A weak reference: the check must not keep an unused handle alive.
        alive = watch()
        if alive is None:
            return
        del alive
        problem = _checked_now(segment)
        # A segment that was merged and removed meanwhile stays readable: it is still mapped.
        if problem is not None and segment.is_whole() and (found := watch()) is not None:
            found._note(problem)  # its own


def _checked_now(segment: Segment) -> str | None:
    stamp, known = _stamp(segment), _last_check(segment)
    if known is None:
        known = (stamp, next(iter(segment.damage()), None))
        _checked.set(str(segment.folder), known)
    return known[1]


def _last_check(segment: Segment) -> tuple[tuple[int, ...], str | None] | None:
    known = _checked.get(str(segment.folder))
    # Compare the times of its files: a copy that replaced another corpus has segments of the same names.
    return known if known is not None and known[0] == _stamp(segment) else None


def _stamp(segment: Segment) -> tuple[int, ...]:
    return tuple(_time(segment.folder / name) for name in segment.files)


def _time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:  # swept while being opened: the checksums will show it
        return 0


def _size(segment: Segment) -> int:
    return sum(int(facts["size"]) for facts in segment.files.values())
