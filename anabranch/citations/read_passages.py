"""Reads passages for the claim check while the model writes, and keeps them for the other steps."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from threading import Lock

from anabranch.citations.passage_text import PassageText
from anabranch.citations.time_limit import TimeIsUp, TimeLimit

MOST_CHARACTERS = 400_000
"""Most characters of the passages that a process keeps; ten passages of one question have some 10,000."""


class PassageMemory:
    """A cache of recent passages, so that each is read once for all steps of a turn."""

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
        """Set the most characters to keep."""
        self._most = most
        self._kept: OrderedDict[tuple[str, str, str], PassageText] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def passage(self, chunk_id: str, text: str, label: str) -> PassageText:
        """Return the passage with this text, from the cache if it is there."""
        key = chunk_id, text, label
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                found = self._kept[key] = PassageText(chunk_id, text, label)
                self._size += len(text) + len(label)
            self._kept.move_to_end(key)
            while self._size > self._most:
                (_, gone, its_label), _ = self._kept.popitem(last=False)
                self._size -= len(gone) + len(its_label)
        return found


# Owner: this module. It holds `MOST_CHARACTERS` at most.
_memory = PassageMemory()
passage_text = _memory.passage


def read(passages: Iterable[PassageText], limit: TimeLimit) -> None:
    """Read what every comparison needs of passages, as far as there is time; the rest is read where it is needed."""
    with suppress(TimeIsUp):
        for passage in passages:
            limit.spend()
            _ = passage.whole.terms, [piece.keys for *_, piece in passage.candidates]
