"""Titles: of the sections that a block stands under, and of the document itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from anabranch.text.normalization import squeeze

Open = tuple[tuple[int, str], ...]
"""The headings that a block stands under, outermost first, each with its level (1 is the highest)."""

_NO_TITLE = re.compile(r"untitled.*|microsoft word.*|document\d*|\S+\.\w{2,5}|[\W\d_]*", re.IGNORECASE)


def under(open_headings: Open, level: int, title: str) -> Open:
    """Return the path after a heading of `level`: those above it stay, its equals and those below it close."""
    return (*(entry for entry in open_headings if entry[0] < level), (level, title))


def titles(open_headings: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Return the titles alone, as `Block.heading` wants them."""
    return tuple(title for _, title in open_headings)


def declared(title: str | None) -> str:
    """Return the title a file declares, or nothing when a program left its own mark there (a file name, a number)."""
    text = squeeze(title or "")
    return "" if _NO_TITLE.fullmatch(text) else text
