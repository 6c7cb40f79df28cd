"""What of a passage can stand in an answer: its sentences, and the rows of its tables with the names of their columns.

A row says nothing by itself: "Net loss | (1,009) | (1,752)" needs to know which year is which. So it is read with the
head of its table, as the reader of documents writes tables: one row per line, cells between bars, the head first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from anabranch.text.sentences import running_spans

MOST_HEADING_WORDS = 12
LEAST_WORDS = 8
"""A cell of so many words is a sentence of its own."""

LONGEST_LEAD = 500
"""Characters of a sentence that ends in a colon together with the list that it announces."""

_SAID = re.compile(r"[.!;:|…。！](?:[\"'”’)\]]|\s|\[\d+\])*$")
_CODE = re.compile(r"[{}]|[=!]=|\w=[\"'\w{\[(]|\w\.\w+\(|\w\[[\w\"']+\]|;\s*$|=>|::")
_BULLET = re.compile(r"^(?:[-*+•‣·–]|\d{1,3}[.)])\s+")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_RULE = re.compile(r"[\s|:-]+$")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Statement:
    """One piece of a passage that can stand by itself.

    Attributes:
        text: As an answer says it.
        quote: The words of the passage that it is from; the same but for the layout of a table or a list.
        is_row: Whether it is a row of a table.
    """

    text: str
    quote: str
    is_row: bool = False


def says_something(text: str) -> bool:
    """Say whether a sentence can stand in an answer: a heading, a question or a line of code cannot."""
    if len(_CODE.findall(text)) >= 2:
        return False
    return bool(_SAID.search(text)) or len(text.split()) > MOST_HEADING_WORDS


def statements(passage: str) -> Iterator[Statement]:
    """Yield the statements of a passage in reading order; headings, questions and code are none."""
    for is_table, group in groupby(passage.splitlines(keepends=True), key=lambda line: bool(_ROW.match(line))):
        lines = list(group)
        yield from _rows(lines) if is_table else _sentences("".join(lines))


def _sentences(text: str) -> Iterator[Statement]:
    pieces = [" ".join(text[start:end].split()) for start, end in running_spans(text)]
    for index, piece in enumerate(pieces):
        if not says_something(piece):
            continue
        whole = [piece]
        if piece.endswith(":"):
            whole = _with_list(piece, pieces[index + 1 :])
            if len(whole) == 1:
                continue  # what it announces is not here
        yield Statement(" ".join(_BULLET.sub("", each) for each in whole), _BULLET.sub("", " ".join(whole)))


def _with_list(lead: str, following: Sequence[str]) -> list[str]:
    """Return a sentence that ends in a colon with what it announces: a list as far as there is room, or a sentence."""
    whole = [lead]
    for each in following:
        is_item = bool(_BULLET.match(each))
        if sum(map(len, whole)) + len(each) > LONGEST_LEAD or (not is_item and len(whole) > 1):
            break
        whole.append(each)
        if not is_item:
            break
    return whole


def _rows(lines: Sequence[str]) -> Iterator[Statement]:
    """Yield the rows of a table that hold figures, and the cells that are sentences of their own."""
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    names = cells[0] if _is_head(lines, cells) else []
    for line, row in zip(lines, cells, strict=True):
        if row is names or _RULE.fullmatch(line):
            continue
        told = [cell for cell in row if len(cell.split()) >= LEAST_WORDS]
        if told:
            yield from (Statement(cell, cell) for cell in told if says_something(cell))
        elif any(map(_DIGIT.search, row[1:])):
            yield Statement(_told(row, names), line.strip(), is_row=True)


def _is_head(lines: Sequence[str], cells: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first line names the columns: a rule follows, or it has no name itself, or no figure."""
    if len(lines) < 2:
        return False
    return bool(_RULE.fullmatch(lines[1])) or not cells[0][0] or not any(map(_DIGIT.search, cells[0]))


def _told(row: Sequence[str], names: Sequence[str]) -> str:
    """Return a row as words: "Net loss: 2021 (1,009); 2020 (1,752)."."""
    named = names if len(names) == len(row) else [""] * len(row)
    values = [f"{name} {cell}".strip() for name, cell in zip(named[1:], row[1:], strict=True) if cell]
    return f"{row[0]}: {'; '.join(values)}." if row[0] else f"{'; '.join(values)}."
