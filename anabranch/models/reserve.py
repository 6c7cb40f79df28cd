"""Room for thoughts: tokens that a model which reasons before it writes is given beside those of its reply.

Thoughts count against the limit of a reply, and a model that reaches it in them says nothing at all. What a model
needs is learned from such replies and kept for the process; a limit costs nothing where it is not used.
"""

from __future__ import annotations

from anabranch.models.lru import LRU
from anabranch.models.structured_output import Who

RESERVES = (0, 4_000, 16_000)
"""Tokens, level by level; each reply that was lost to thoughts is asked for once more on the next level."""

KEPT = 256

_levels: LRU[Who, int] = LRU(KEPT)


def level_of(who: Who) -> int:
    """Return the level on which calls to a model begin, 0 where nothing was learned of it."""
    return _levels.get(who) or 0


def learn(who: Who, level: int) -> None:
    """Begin on this level from now on, unless a higher one was learned meanwhile."""
    _levels.set(who, max(level, level_of(who)))


def forget() -> None:
    """Drop what was learned, for tests and for servers that were changed."""
    _levels.clear()
