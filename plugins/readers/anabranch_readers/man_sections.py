"""The sections of a man page, and in each what stands there, items within items; and their blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from anabranch.readers.document import Block, HeadingPath, titles, with_heading
from anabranch.text.normalization import squeeze

_SHORT = 200
"""Characters of an item that stands on one line with its tag; a longer one has its tag as a heading."""

LONGEST_TAG = 120
"""Characters of a tag that can be a heading."""


@dataclass
class ManItem:
    """A tagged paragraph, with the indent at which it stands."""

    tag: str
    depth: int
    parts: list[ManPart] = field(default_factory=list)

    @property
    def is_point(self) -> bool:
        """Whether its tag is a bullet or a number and says nothing."""
        return self.tag == "o" or not any(map(str.isalpha, self.tag))


@dataclass
class ManSection:
    """What stands under a heading, or above the first one."""

    level: int
    title: str
    parts: list[ManPart] = field(default_factory=list)


ManPart = tuple[Literal["text", "kept", "table"], str] | ManItem


def blocks_of(parts: Sequence[ManPart], path: HeadingPath) -> Iterator[Block]:
    """Yield what stands under a heading: short items as lines that stay together, longer ones under their tag."""
    lines: list[str] = []
    for part in (*parts, None):
        line = _one_line(part) if isinstance(part, ManItem) else ""
        if line:
            lines.append(line)
            continue
        if lines:
            yield Block("\n".join(lines), None, titles(path), is_preformatted=True)
            lines = []
        if isinstance(part, ManItem):
            yield from _item_blocks(part, path)
        elif part is not None:
            yield Block(part[1], None, titles(path), is_preformatted=part[0] == "kept")


def _one_line(item: ManItem) -> str:
    """Return a short item on one line, nothing for a longer one."""
    if len(item.parts) > 1 or any(isinstance(part, ManItem) or part[0] != "text" for part in item.parts):
        return ""
    text = "".join(squeeze(part[1]) for part in item.parts if not isinstance(part, ManItem))
    line = f"{_point(item.tag)} {text}" if item.is_point else f"{item.tag}: {text}" if text else item.tag
    return line if len(line) <= _SHORT else ""


def _item_blocks(item: ManItem, path: HeadingPath) -> Iterator[Block]:
    if item.is_point or len(item.tag) > LONGEST_TAG:
        first, *rest = blocks_of(item.parts, path) if item.parts else [Block("", None, titles(path))]
        mark = _point(item.tag) if item.is_point else item.tag + ":"
        yield Block(f"{mark} {first.text}".rstrip(), None, first.heading, is_preformatted=first.is_preformatted)
        yield from rest
        return
    below = with_heading(path, max((level for level, _ in path), default=0) + 1, item.tag)
    yield Block(item.tag, None, titles(below), is_heading=True)
    yield from blocks_of(item.parts, below)


def _point(tag: str) -> str:
    return tag if any(map(str.isdigit, tag)) else "-"
