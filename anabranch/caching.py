"""Kept answers: what names a question so that the same one, asked of the same, may get the same answer again.

Only an exact match counts. Whatever could change an answer is part of its name, so nothing ever has to be looked for
and thrown away: a document, a prompt, a setting or a tag that changes makes a new name, and the old answer is never
asked for again.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

ENTRIES = 1_024
MAX_CHARS = 128_000
"""Characters of one kept turn, as JSON; a longer one is not kept."""

TOTAL_CHARS = 16_000_000
DAYS = 1
"""Days a kept answer may be given: a provider may put another model behind the same name."""


@dataclass(frozen=True, slots=True)
class Asked:
    """All that an answer depends on.

    Attributes:
        turn: What the turn begins with: the question as asked, filters, and whatever else the graph set.
        before: The conversation before it, as (role, content).
        access: The caller's access tags.
        edition: Names the corpus and the state that it is in.
        settings: Every setting, defaults included.
        program: The program's version and a digest of its prompts.
        around: What else settings point at, such as the server that the environment names.
    """

    turn: Mapping[str, Any]
    before: Sequence[tuple[str, Any]]
    access: Iterable[str]
    edition: str
    settings: Mapping[str, Any]
    program: tuple[str, str]
    around: Sequence[Any] = ()

    @property
    def key(self) -> str:
        """The name under which its answer is kept: 64 hexadecimal digits."""
        access = sorted(set(self.access))
        return digest([self.turn, self.before, access, self.edition, self.settings, self.program, self.around])


def digest(value: Any) -> str:  # noqa: ANN401  # any JSON value
    """Return the SHA-256 of a value's canonical JSON; the order of an object's keys does not count."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def slot(key: str) -> str:
    """Return the place of a key among a fixed number of them: a store without any housekeeping stays bounded."""
    return f"{int(key[:8], 16) % ENTRIES:04d}"


def is_fresh(at: str, now: datetime | None = None) -> bool:
    """Tell whether an answer of that moment (ISO 8601, with its zone) may still be given; what is no moment may not."""
    try:
        age = (now or datetime.now(UTC)) - datetime.fromisoformat(at)
    except (TypeError, ValueError):
        return False
    return timedelta(0) <= age < timedelta(days=DAYS)


class Memory:
    """Texts by key, those used last: at most `entries` of them, and `chars` characters in all; for any thread."""

    def __init__(self, entries: int = ENTRIES, chars: int = TOTAL_CHARS) -> None:
        """Begin empty."""
        self._entries, self._chars = entries, chars
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: str) -> str | None:
        """Return what is kept under a key, None where there is nothing."""
        with self._lock:
            text = self._texts.get(key)
            if text is not None:
                self._texts.move_to_end(key)
            return text

    def put(self, key: str, text: str) -> None:
        """Keep a text, and let go of those that were not used for longest."""
        with self._lock:
            self._size += len(text) - len(self._texts.pop(key, ""))
            self._texts[key] = text
            while len(self._texts) > self._entries or self._size > self._chars:
                self._size -= len(self._texts.popitem(last=False)[1])

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._texts.clear()
            self._size = 0
