"""Checks quotations of tables cell by cell: a row is quoted with its cells in any layout, and a figure has a column.

The reader of documents writes tables with one row per line and bars between the cells, the names of the columns first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from anabranch.citations.lexical_support import meaning
from anabranch.citations.quantities import Figure, figures

Span = tuple[int, int]

_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_RULE = re.compile(r"[\s|:-]+$")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table in a passage.

    Attributes:
        start: Where its line starts in the passage, blanks left out.
        end: Where it ends.
        cells: Its cells, without the blanks around them.
        names: The head of the table, as many; empty where it has none.
    """

    start: int
    end: int
    cells: tuple[str, ...]
    names: tuple[str, ...]


@lru_cache(maxsize=128)
def rows(passage: str) -> tuple[Row, ...]:
    """Return the rows of all tables in a passage, their heads and rules left out."""
    if "|" not in passage:
        return ()
    found: list[Row] = []
    at = 0
    lines = []
    for line in passage.splitlines(keepends=True):
        lines.append((at, line))
        at += len(line)
    for is_table, group in groupby(lines, key=lambda item: bool(_ROW.match(item[1].rstrip("\r\n")))):
        if is_table:
            found += _table([(start, line) for start, line in group if not _RULE.fullmatch(line)])
    return tuple(found)


def _table(lines: Sequence[tuple[int, str]]) -> list[Row]:
    if not lines:
        return []
    parsed = [tuple(cell.strip() for cell in line.strip().strip("|").split("|")) for _, line in lines]
    head = parsed[0] if len(parsed) > 1 and _names_columns(parsed) else ()
    return [
        Row(
            start=start + len(line) - len(line.lstrip()),
            end=start + len(line.rstrip()),
            cells=cells,
            names=head if len(head) == len(cells) else (),
        )
        for (start, line), cells in list(zip(lines, parsed, strict=True))[1 if head else 0 :]
    ]


def _names_columns(parsed: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row is a head: no name of its own, no figure, or years and the like over plain figures."""
    first = parsed[0]
    kinds = {figure.kind for cell in first[1:] for figure in figures(cell)}
    return not first[0] or kinds <= {"year"} or not any(map(_DIGIT.search, "".join(first)))


def find_row(quote: str, passage: str) -> Span | None:
    """Return the span of the row that a quotation gives, in whatever layout: "Net loss 2020: $(1,752)".

    Args:
        quote: Words said to be copied from a table.
        passage: The text as it stands.

    Returns:
        The span of the row whose cells (its name and one more at least), together with names of the columns, are all
        that the quotation says; or None.
    """
    said = meaning(quote)
    numbers = [figure.bare for figure in figures(quote)]
    for row in rows(passage):
        own = meaning(" | ".join(row.cells)).terms
        heads = meaning(" | ".join(row.names)).terms
        inside = {figure.bare for cell in row.cells for figure in figures(cell)}
        names = {figure.bare for cell in row.names for figure in figures(cell)}
        named = meaning(row.cells[0]).terms
        if not named or not named <= said.terms or not said.terms <= own | heads:
            continue
        if set(numbers) <= inside | names and (set(numbers) & inside or len(said.terms & own) > len(named)):
            return row.start, row.end
    return None


def wrong_column(stated: Sequence[Figure], claim: str, quote: str, passage: str) -> bool:
    """Tell whether a claim gives a figure of a row under the name of another row, or of another column.

    Only where the claim names rows or columns of the table at all ("in 2021").
    """
    place = passage.find(quote)
    shown = [row for row in rows(passage) if place >= 0 and row.start < place + len(quote) and place < row.end]
    about = [row for row in shown if _is_named(row, claim)]
    if shown and not about and any(_is_named(row, claim) for row in rows(passage)):
        return True
    return any(_mixes(row, stated, claim) for row in (about or shown) if row.names and len(about or shown) == 1)


def _is_named(row: Row, claim: str) -> bool:
    name = meaning(row.cells[0]).terms
    return bool(name) and name <= meaning(claim).terms


def _mixes(row: Row, stated: Sequence[Figure], claim: str) -> bool:
    """Tell whether a figure of the claim is of a column it does not name, and that of one it names is not in it."""
    columns = range(1, len(row.cells))
    holding = [{column for column in columns if _in(figure, row.cells[column])} for figure in stated]
    values = {column for found in holding for column in found}
    named = {column for column in columns if _names(claim, row.names, column)}
    left_out = {column for column in named - values if figures(row.cells[column])}
    return bool(left_out) and any(found and not found & named for found in holding)


def _in(figure: Figure, cell: str) -> bool:
    return any(figure.matches(other, scaled=True) for other in figures(cell))


def _names(claim: str, names: Sequence[str], column: int) -> bool:
    """Tell whether the claim says what tells a column from the others."""
    shared = [meaning(name).terms for index, name in enumerate(names) if index not in (0, column)]
    own = meaning(names[column]).terms.difference(*shared)
    return bool(own) and own <= meaning(claim).terms
