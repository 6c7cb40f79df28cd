"""A dictionary with a bound: what was used least lately goes first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LRU(Generic[K, V]):
    """Keeps the last `most` entries that were set or looked up; for any thread."""

    def __init__(self, most: int) -> None:
        """Begin with none."""
        self._most = most
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """Return an entry, which counts as used now; None where there is none."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def set(self, key: K, value: V) -> None:
        """Set an entry; the one that was used least lately is dropped for it where there are too many."""
        with self._lock:
            self._entries[key] = value
            self._touch(key)

    def pop(self, key: K) -> V | None:
        """Drop an entry, and return it; None where there is none."""
        with self._lock:
            return self._entries.pop(key, None)

    def setdefault(self, key: K, value: V) -> V:
        """Return an entry as `get` does, set to this value where there is none."""
        with self._lock:
            known = self._entries.setdefault(key, value)
            self._touch(key)
            return known

    def clear(self) -> None:
        """Drop all entries."""
        with self._lock:
            self._entries.clear()

    def _touch(self, key: K) -> None:
        self._entries.move_to_end(key)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)
