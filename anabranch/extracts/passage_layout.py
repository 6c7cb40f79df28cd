"""Splits a passage into prose, tables as the readers write them, and lines of commands or code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from anabranch.extracts.shell_commands import command_spans
from anabranch.text.sentences import running_spans

BlockKind = Literal["prose", "table", "code"]

_ROW = re.compile(r"\s*\|.*\|\s*$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class PassageBlock:
    """Lines of one kind at [start, end) of a passage."""

    kind: BlockKind
    start: int
    end: int


def blocks_of(passage: str) -> list[PassageBlock]:
    """Return the blocks of a passage, in order; joined, they are the whole passage."""
    return list(chain.from_iterable(_part(passage, block) for block in _split_lines(passage)))


def _split_lines(passage: str) -> Iterator[PassageBlock]:
    """Cut a passage into prose, rows of tables, and code between the document's own fences."""
    kind: BlockKind = "prose"
    start = at = 0
    fence = ""
    for line in passage.splitlines(keepends=True):
        opened = _FENCE.match(line)
        now: BlockKind = "code" if fence or opened else "table" if _ROW.match(line) else "prose"
        if (now != kind or (opened and not fence)) and at > start:
            yield PassageBlock(kind, start, at)
            start = at
        kind = now
        if opened:
            fence = "" if fence and opened[1].startswith(fence) else fence or opened[1]
        at += len(line)
    if at > start:
        yield PassageBlock(kind, start, at)


def _part(passage: str, block: PassageBlock) -> Iterator[PassageBlock]:
    """Separate prose from paragraphs of commands: readers of documents drop the fences of code."""
    at = block.start
    for start, end in command_spans(passage, block.start, block.end) if block.kind == "prose" else ():
        if start > at:
            yield PassageBlock("prose", at, start)
        yield PassageBlock("code", start, end)
        at = end
    if at < block.end:
        yield PassageBlock(block.kind, at, block.end)


def piece_spans(passage: str) -> list[tuple[int, int]]:
    """Return where the sentences of prose, the rows of tables and the blocks of code are, without blanks around them.

    These are the candidates for the best piece.
    """
    cut = ((start, end) for block in blocks_of(passage) for start, end in _pieces(passage, block))
    trimmed = (trim_span(passage, start, end) for start, end in cut)
    return [(start, end) for start, end in trimmed if start < end]


def _pieces(passage: str, block: PassageBlock) -> Iterator[tuple[int, int]]:
    if block.kind == "code":
        yield block.start, block.end
    elif block.kind == "table":
        at = block.start
        for line in passage[block.start : block.end].splitlines(keepends=True):
            yield at, (at := at + len(line))
    else:
        for start, end in running_spans(passage[block.start : block.end]):
            yield block.start + start, block.start + end


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the characters [start, end) of a text without the blanks around them."""
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), end - (len(inner) - len(inner.rstrip()) if inner.strip() else 0)
