"""Cursors of results that come in parts: opaque to a caller, bound to one call, and safe in a corpus that changes."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence

from typing_extensions import TypedDict

from anabranch.errors import QuestionError
from anabranch.store.protocol import CorpusReader

MAX_CURSOR = 200
"""Most characters of a cursor."""


class Cursor(TypedDict):
    """What a cursor holds; `anchor` marks the item before `position`, or that of `grep`, at it."""

    position: int
    offset: int
    anchor: str
    generation: int


CHANGED = "The corpus has changed since the first part: call without the cursor to see it as it is now."

ANEW = "The last item of the part before is gone, so this begins anew."


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:10]


def resume(ids: Sequence[str], place: int, at: Cursor) -> tuple[int, bool]:
    """Return where the item that a cursor marks is now, and whether it is gone: then the place is -1.

    Args:
        ids: The items as they are now.
        place: Where it was.
        at: The cursor.
    """
    anchor = at["anchor"]
    if not anchor or (0 <= place < len(ids) and _mark(ids[place]) == anchor):
        return place, False
    found = next((now for now, each in enumerate(ids) if _mark(each) == anchor), -1)
    return found, found < 0


def _mark(key: str) -> str:
    """Return what a cursor holds of an id: the ids of a corpus themselves, others as a digest."""
    return key if len(key) <= 32 and key.isascii() else _digest(key)


class Paging:
    """Writes and reads the cursors of one call."""

    def __init__(self, tool: str, call: Sequence[object], corpus: CorpusReader) -> None:
        """Take the call that the cursors are for: the tool and its arguments."""
        self._key = _digest([tool, *call])
        self._generation = corpus.generation

    def write(self, position: int, before: str, offset: int = 0) -> str:
        """Return the cursor for what follows an item."""
        parts = [self._key, position, offset, _mark(before) if before else "", self._generation]
        return base64.urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode()

    def read(self, cursor: str) -> Cursor:
        """Return what a cursor holds, the beginning without one.

        Raises:
            QuestionError: It is of another call.
        """
        if not cursor:
            return Cursor(position=0, offset=0, anchor="", generation=self._generation)
        parts = _decode(cursor)
        if parts is None or parts[0] != self._key:
            msg = "This cursor is not of this call."
            raise QuestionError(msg, hint="Repeat the call that returned it, with the same arguments; or leave it out.")
        _, position, offset, anchor, generation = parts
        return Cursor(position=position, offset=offset, anchor=anchor, generation=generation)

    def note(self, at: Cursor, *, is_anew: bool) -> str:
        """Return what the caller should know of the part that a cursor begins; mostly empty."""
        if is_anew:
            return ANEW
        return CHANGED if at["generation"] != self._generation else ""


def _decode(cursor: str) -> tuple[str, int, int, str, int] | None:
    """Return what a cursor holds; None if it is none of ours."""
    try:
        key, position, offset, anchor, generation = json.loads(
            base64.b64decode(cursor[:MAX_CURSOR].encode("ascii"), altchars=b"-_", validate=True)
        )
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None
    numbers = (position, offset, generation)
    if not all(type(each) is int and 0 <= each < 10**12 for each in numbers) or not isinstance(anchor, str):
        return None
    return key, position, offset, anchor, generation
