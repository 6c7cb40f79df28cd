"""Checks quotes of tables cell by cell: a row may be quoted in any layout, but its figures belong to their columns.

Document readers write tables with one row per line and bars between the cells, the names of the columns first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from anabranch.citations.quantities import Figure, figure_spans, has, unit_of_column
from anabranch.text.analyzer import analyser
from anabranch.text.function_words import NEGATIONS, NO, fold_word

_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
# Not a bar that belongs to a cell, "a \\| b".
_BAR = re.compile(r"(?<!\\)\|")
_LAST_BAR = re.compile(r"(?<!\\)\|$")
_RULE = re.compile(r"[\s|:-]+$")
# Digits of a name, such as "K3", are no figure.
_DIGITS = re.compile(r"(?<![^\W_])\d+")
# How many rows before and after a row its name is compared with.
_NEAR = 50
# "K3 Plus 1.9 litres": a name may have digits, too.
_NUMBER_BEGINS = re.compile(r"(?<!\w)[^\w\s]?\d")
_WORD = re.compile(r"\w+")
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")


@dataclass(frozen=True)
class TableRow:
    """A row of a table in a passage.

    Attributes:
        start: Where its line starts in the passage, blanks left out.
        end: Where it ends.
        cells: Its cells, without the blanks around them.
        names: The names of the columns, as many as cells; empty without a head.
    """

    start: int
    end: int
    cells: tuple[str, ...]
    names: tuple[str, ...]

    @cached_property
    def terms(self) -> tuple[frozenset[str], ...]:
        """The terms of each cell; the first cell is the name of the row."""
        return tuple(map(_terms, self.cells))

    @cached_property
    def columns(self) -> tuple[frozenset[str], ...]:
        """The terms of each column's name; without a head, of the words before the number of a cell."""
        return tuple(map(_terms, self.names or (_NUMBER_BEGINS.split(cell, maxsplit=1)[0] for cell in self.cells)))

    @cached_property
    def figures(self) -> tuple[tuple[Figure, ...], ...]:
        """The numbers in each cell, without those in a name, such as "K3"."""
        return tuple(
            tuple(figure for start, _, figure in figure_spans(cell, blanks=True) if not cell[:start][-1:].isalpha())
            for cell in self.cells
        )

    @cached_property
    def units(self) -> tuple[frozenset[str], ...]:
        """The units and currencies of each cell's numbers, including that of its column."""
        names = self.names or ("",) * len(self.cells)
        return tuple(
            frozenset({unit_of_column(name), *(figure.unit for figure in figures)} - {""})
            for name, figures in zip(names, self.figures, strict=True)
        )

    def find_called_terms(self, given: frozenset[str]) -> frozenset[str]:
        """Return the terms of the cells without figures whose terms are all given."""
        cells = zip(self.terms, self.figures, strict=True)
        return frozenset[str]().union(*(terms for terms, figures in cells if not figures and terms and terms <= given))

    def is_named(self, terms: frozenset[str]) -> bool:
        """Tell whether a text with these terms has the row's name."""
        return bool(self.terms[0]) and self.terms[0] <= terms


def _terms(text: str) -> frozenset[str]:
    return frozenset(analyser().terms(text))


def table_rows(passage: str) -> tuple[TableRow, ...]:
    """Return the rows of all tables in a passage, their heads and rules left out."""
    if "|" not in passage:
        return ()
    found: list[TableRow] = []
    at = 0
    lines = []
    for line in passage.splitlines(keepends=True):
        lines.append((at, line))
        at += len(line)
    for is_table, group in groupby(lines, key=lambda item: bool(_ROW.match(item[1].rstrip("\r\n")))):
        if is_table:
            found += _table([(start, line) for start, line in group if not _RULE.fullmatch(line)])
    return tuple(found)


def _table(lines: Sequence[tuple[int, str]]) -> list[TableRow]:
    if not lines:
        return []
    parsed = [row_cells(line) for _, line in lines]
    head = parsed[0] if len(parsed) > 1 and _names_columns(parsed[0]) else ()
    return [
        TableRow(
            start=start + len(line) - len(line.lstrip()),
            end=start + len(line.rstrip()),
            cells=cells,
            names=head if len(head) == len(cells) else (),
        )
        for (start, line), cells in list(zip(lines, parsed, strict=True))[1 if head else 0 :]
    ]


def row_cells(line: str) -> tuple[str, ...]:
    """Return the cells of a row, without the bars at its ends; escaped bars in a cell become plain."""
    row = _LAST_BAR.sub("", line.strip().removeprefix("|"))
    return tuple(cell.strip().replace("\\|", "|") for cell in _BAR.split(row))


def denied_cells(passage: str, row: TableRow, language: str) -> dict[int, tuple[int, int]]:
    """Return the [start, end) of each cell that is only "no", "never" or "none", by column."""
    bars = [match.start() for match in _BAR.finditer(passage, row.start, row.end)]
    # In any language, because a table has too few words to recognise its language.
    denials = NO | NEGATIONS.get(language, frozenset())
    return {
        at: (bars[at], bars[at + 1])
        for at, cell in enumerate(row.cells)
        if 0 < at < len(bars) - 1 and row.names and fold_word(cell).strip(".!*_") in denials
    }


def _names_columns(first: Sequence[str]) -> bool:
    """Tell whether the first row is a head: its first cell is empty, or its only figures are years."""
    return not first[0] or all(map(_YEAR.fullmatch, _DIGITS.findall(" ".join(first[1:]))))


def find_row(quote: str, rows: Iterable[TableRow]) -> tuple[int, int] | None:
    """Return the span of the row that a quote repeats, in any layout: "Net loss 2020: $(1,752)".

    Returns:
        The span of the row of which the quote has the name and at least one more cell, and no words that are not in the
        row or the names of its columns; or None.
    """
    terms = _terms(quote)
    for row in rows:
        own = frozenset[str]().union(*row.terms)
        if row.is_named(terms) and terms <= own.union(*row.columns) and len(terms & own) > len(row.terms[0]):
            return row.start, row.end
    return None


def has_wrong_column(
    claim: str, stated: Sequence[Figure], supporting: Sequence[TableRow], rows: Iterable[TableRow], question: str = ""
) -> bool:
    """Tell whether a claim gives a figure of a row under the name of another row, or of another column.

    This needs a claim, or else a question, that names rows or columns of the table, such as "in 2021".

    Args:
        claim: The claim.
        stated: Its numbers.
        supporting: The rows that may support it.
        rows: All rows of the passage.
        question: The question; empty if the claim can be judged alone.
    """
    if not supporting:
        return False
    terms, asked = _terms(claim), _terms(question)
    every = list(rows)
    about = [row for row in supporting if row.is_named(terms)]
    if not about and any(row.is_named(terms) for row in every):
        return True
    if len(supporting) == 1 and _is_called_otherwise(supporting[0], every, terms, asked):
        return True
    candidates = about or supporting
    if len(candidates) != 1 or not any(candidates[0].columns):
        return False
    (row,) = candidates
    if _crosses(row, claim):
        return True
    named = _find_named_columns(row, terms) or _find_named_columns(row, asked)
    return _mixes(row, stated, named)


def _is_called_otherwise(
    supporting: TableRow, rows: Sequence[TableRow], terms: frozenset[str], asked: frozenset[str]
) -> bool:
    """Tell whether a claim, or else its question, has the name of another row: "joiner" is not "senior joiner"."""
    at = next((at for at, row in enumerate(rows) if row is supporting), 0)
    near = [
        row for row in rows[max(0, at - _NEAR) : at + _NEAR] if row is not supporting and row.names == supporting.names
    ]
    for words in (terms, asked):
        own, others = supporting.find_called_terms(words), [row.find_called_terms(words) for row in near]
        if own or any(others):
            return any(own < other for other in others) and not any(other <= own for other in others if other)
    return False


def _crosses(row: TableRow, claim: str) -> bool:
    """Tell whether a claim gives the figures of several columns in another order than it names the columns."""
    events: list[tuple[int, bool, int]] = []
    columns = range(1, len(row.cells))
    for start, _, figure in figure_spans(claim):
        held = [at for at in columns if has(row.figures[at], figure)]
        events += [(start, False, held[0])] if len(held) == 1 else []
    own = _find_own_names(row)
    for word in _WORD.finditer(claim):
        held = [at for at in columns if own[at] and own[at] & _terms(word[0])]
        events += [(word.start(), True, held[0])] if len(held) == 1 else []
    events.sort()
    names = [at for _, is_name, at in events if is_name]
    values = [at for _, is_name, at in events if not is_name]
    # Only if each column has one name and one figure in the claim.
    once = len(names) == len(set(names)) and sorted(names) == sorted(values)
    return once and names != values


def _mixes(row: TableRow, stated: Sequence[Figure], named: set[int]) -> bool:
    """Tell whether the claim has a figure of a column that it does not name, and none of one that it names."""
    columns = range(1, len(row.cells))
    holding = [{at for at in columns if has(row.figures[at], figure)} for figure in stated]
    values = {column for found in holding for column in found}
    if any(found and _is_measured_elsewhere(row, figure, found) for figure, found in zip(stated, holding, strict=True)):
        return True
    # A named column that is empty in this row contradicts nothing.
    left_out = {column for column in named - values if row.figures[column]}
    return bool(left_out) and any(found and not found & named for found in holding)


def _is_measured_elsewhere(row: TableRow, figure: Figure, holding: set[int]) -> bool:
    """Tell whether only other cells of the row have the unit of a number: "17 euros" for 17 pieces at 32 euros."""
    measured = {at for at, units in enumerate(row.units) if figure.unit in units}
    return bool(measured) and not measured & holding


def _find_own_names(row: TableRow) -> dict[int, frozenset[str]]:
    """Return the terms that only one column's name has: the year of "year ended 2021" and "... 2020"."""
    columns = range(1, len(row.cells))
    return {at: row.columns[at].difference(*(row.columns[other] for other in columns if other != at)) for at in columns}


def _find_named_columns(row: TableRow, terms: frozenset[str]) -> set[int]:
    """Return the columns that a text names in full, or else the only one that it names in part."""
    own = _find_own_names(row)
    # All terms of "K3" are in "K3 Plus", too: it is named if the longer name is not.
    in_full = {at for at in own if (own[at] and own[at] <= terms) or (not own[at] and _is_longest(row, at, terms))}
    in_part = {at for at in own if own[at] & terms}
    return in_full or (in_part if len(in_part) == 1 else set())


def _is_longest(row: TableRow, at: int, terms: frozenset[str]) -> bool:
    name, others = row.columns[at], [row.columns[other] for other in range(1, len(row.cells)) if other != at]
    return bool(name) and name <= terms and not any(name == other or name < other <= terms for other in others)
