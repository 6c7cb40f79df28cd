"""Reads passages for the check while the model writes, and keeps them until the answer is there."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from threading import Lock

from anabranch.citations.passage_text import PassageText
from anabranch.citations.time_limit import TimeIsUp, TimeLimit

MOST_CHARACTERS = 400_000
"""Of the passages that are kept in a process, read or not; ten passages of one question have some 10,000."""


class PassageMemory:
    """The passages that were asked for last, so that each is read once for all steps of a turn."""

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
        """Keep so many characters at most."""
        self._most = most
        self._kept: OrderedDict[tuple[str, str, str], PassageText] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def passage(self, chunk_id: str, text: str, label: str) -> PassageText:
        """Return the passage of these words, the one that was returned for them before where it is still kept."""
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
    """Read passages for the claims that are compared with them later, as far as there is time."""
    with suppress(TimeIsUp):
        for passage in passages:
            limit.spend()
            _ = passage.candidates, passage.whole, passage.folded, passage.statements
