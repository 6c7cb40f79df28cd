"""What AsciiDoc and Org have in common: lines that are headings, tables, code between marks, or prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from anabranch.readers.document import Block
from anabranch.readers.document_parts import Sections
from anabranch.readers.table_blocks import table_parts

LineKind = Literal["heading", "row", "code", "prose", "item", "blank", "unseen"]


@dataclass(frozen=True, slots=True)
class MarkupLine:
    """One line as its format understands it.

    Attributes:
        kind: What it is; a table ends with its last row, a paragraph with a blank line, code where its mark ends it.
        text: Its words, without the marks.
        level: Of a heading, from 1.
        cells: Of a row.
    """

    kind: LineKind
    text: str = ""
    level: int = 0
    cells: tuple[str, ...] = ()


def markup_blocks(lines: Iterable[MarkupLine]) -> Iterator[Block]:
    """Yield the blocks that lines make."""
    sections = Sections()
    held: list[MarkupLine] = []
    for line in (*lines, MarkupLine("blank")):
        if line.kind == "unseen":
            continue
        if held and (line.kind == "blank" or _family(line) != _family(held[-1])) and not _inside_code(held, line):
            yield from _block(held, sections)
            held = []
        if line.kind == "heading":
            yield sections.title(line.level, line.text)
        elif line.kind != "blank":
            held.append(line)


def _family(line: MarkupLine) -> str:
    # Lines below an item that begin no other go on with it.
    return "text" if line.kind in {"prose", "item"} else line.kind


def _inside_code(held: Sequence[MarkupLine], line: MarkupLine) -> bool:
    return held[-1].kind == "code" and line.kind == "code"


def _block(held: Sequence[MarkupLine], sections: Sections) -> Iterator[Block]:
    if held[0].kind == "row":
        yield from (sections.text(part) for part in table_parts([list(line.cells) for line in held]))
        return
    if held[0].kind == "code":
        text = "\n".join(line.text for line in held).strip("\n")
    else:
        text = re.sub(
            r"\n(?!\x00)", " ", "\n".join(("\x00" if each.kind == "item" else "") + each.text for each in held)
        )
        text = text.replace("\x00", "")
    if text.strip():
        yield sections.text(text)
