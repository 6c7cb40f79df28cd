"""Tables that nothing rules: columns seen from where the words of many rows begin and end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise

from anabranch_readers.page_contents import PageWords
from anabranch_readers.pdf_layout.page_tables import (
    Cells,
    PdfTable,
    cut,
    is_number,
    says_enough,
    table,
    words_of,
)
from anabranch_readers.pdf_layout.text_lines import Line, with_whole_numbers
from anabranch_readers.pdf_layout.text_rows import TextRow, as_row

_NEAR = 2.5  # points by which the starts in one column differ
_LOOSE = 1.25  # times the closest step: the next row of the table
_TIGHT, _OVERPRINT = 1.5, 0.8  # times the type size, from one row to the next
_PROSE = 6  # words in a cell that may run over several rows
_SPACE = 0.25  # of the type size: the room that a space takes
_MOSTLY = 0.8  # of its width: a line that lies so far in one column stands there
_APART = 0.5  # of the type size; less is a raised note or a sign
_FILLED = 0.55  # share of cells with something in them; formulas have fewer
_SEVERAL = re.compile(r"[($€£¥−–-]*\d[\d.,]*[%)]*(?: [($€£¥−–-]*\d[\d.,]*[%)]*)+")
_FEWEST_PAIRS, _ROOM = 3, 0.5  # cells that say so; of the type size, between two columns
_SIGN = re.compile(r"[$€£¥%()\s]")
_BESIDE = 15.0  # points between a heading set left and its numbers set right


@dataclass(slots=True)
class Column:
    """Where one column lies, in points, and in which rows of text it holds something."""

    x0: float
    x1: float
    rows: set[int] = field(default_factory=set)


def aligned(found: Sequence[TextRow], vocabulary: frozenset[str], words: PageWords) -> PdfTable | None:
    """Return rows of text as a table, if it is clear that their words stand in columns.

    Args:
        found: From top to bottom.
        vocabulary: Of the document, which decides on hyphens at line ends.
        words: Of the page.
    """
    made = _with_pairs_parted(columns(found), found, words)
    if len(made) < 2 or 2 * sum("…" in row.text for row in found) > len(found):  # the contents, and its page numbers
        return None
    # To cut lines, the page is read once more; most of what is no table is seen to be none without that.
    cells = unwrapped(found, [into_columns(row, made, tuple) for row in found], made)
    if _is_clear(cells) and any(len(_under(line, made)) > 1 for row in found for line in row.lines):
        cells = unwrapped(found, [into_columns(row, made, words) for row in found], made)
    return table(cells, vocabulary) if _is_clear(cells) else None


def _is_clear(cells: Sequence[Cells]) -> bool:
    """Tell a table from a formula or the labels of a drawing: few gaps, rows of several cells, words and numbers."""
    said = [[as_row(cell).text if cell else "" for cell in row] for row in cells]
    full = [row for row in said if sum(map(bool, row)) > 1]
    # A column of currency signs is a part of the next one.
    solid = sum(any(_SIGN.sub("", text) for text in column) for column in zip(*full, strict=True))
    filled = [text for row in full for text in row if _SIGN.sub("", text)]
    few = len(full) < 3 and not (len(full) == 2 and any(map(is_number, filled)))
    return (
        not few and 2 * len(full) >= len(cells) and len(filled) >= _FILLED * len(full) * solid and says_enough(filled)
    )


def columns(found: Sequence[TextRow]) -> list[Column]:
    """Return the columns that rows of several cells stand in, from left to right.

    Narrow cells come first. A cell over two columns makes them one, unless some row has something in both: then it
    spans them, as a heading over two years does.
    """
    cells = [(line, at) for at, row in enumerate(found) if len(row.lines) > 1 for line in _fragments(row)]
    made: list[Column] = []
    for line, at in sorted(cells, key=lambda cell: cell[0].x1 - cell[0].x0):
        over = [column for column in made if _overlap(column, line) > 0.5]
        if not any(one.rows & other.rows for one, other in combinations(over, 2)):
            made = [column for column in made if not any(column is each for each in over)]
            made.append(_union([Column(line.x0, line.x1, {at}), *over]))
    return _headed(sorted(made, key=lambda column: column.x0))


def _with_pairs_parted(made: Sequence[Column], found: Sequence[TextRow], words: PageWords) -> list[Column]:
    """Return the columns, one that holds several numbers in each of its cells taken apart where all of them have room.

    MuPDF ends a line at a wide gap only, and narrow columns of figures reach us as one.
    """
    parted: list[Column] = []
    for column in made:
        cells = [line for row in found for line in row.lines if _overlap(column, line) > _MOSTLY * (line.x1 - line.x0)]
        pairs = [line for line in cells if _SEVERAL.fullmatch(line.text)]
        counts = {len(line.text.split()) for line in pairs}
        is_told = len(pairs) >= _FEWEST_PAIRS and 2 * len(pairs) > len(cells) and len(counts) == 1
        parted += _parted(column, pairs, words) if is_told else [column]
    return parted


def _parted(column: Column, cells: Sequence[Line], words: PageWords) -> list[Column]:
    page = words()
    places = [[(word[0], word[2]) for word in words_of(line, page)] for line in cells]
    if not places[0] or len({len(row) for row in places}) != 1:
        return [column]
    sides = [(min(x0 for x0, _ in each), max(x1 for _, x1 in each)) for each in zip(*places, strict=True)]
    # The space within `12 500` is narrower than that between two columns.
    if any(right[0] - left[1] < _ROOM * cells[0].size for left, right in pairwise(sides)):
        return [column]
    sides = [(column.x0, sides[0][1]), *sides[1:-1], (sides[-1][0], column.x1)]
    return [Column(x0, x1, set(column.rows)) for x0, x1 in sides]


def _fragments(row: TextRow) -> list[Line]:
    """Return what stands apart in a row: a raised note, or the sign of a percentage, belongs to what is before it."""
    apart: list[Line] = []
    for line in sorted(row.lines, key=lambda line: line.x0):
        if apart and line.x0 - apart[-1].x1 < _APART * max(line.size, apart[-1].size):
            apart[-1] = replace(
                apart[-1], text=with_whole_numbers(f"{apart[-1].text} {line.text}"), x1=max(apart[-1].x1, line.x1)
            )
        else:
            apart.append(line)
    return apart


def _union(over: Sequence[Column]) -> Column:
    rows = set().union(*(column.rows for column in over))
    return Column(min(column.x0 for column in over), max(column.x1 for column in over), rows)


def _headed(made: Sequence[Column]) -> list[Column]:
    """Return the columns, a heading that lies beside its numbers put over them: it ends where they begin."""
    kept: list[Column] = []
    for column in made:
        before = kept[-1] if kept else None
        apart = before is not None and (max(before.rows) < min(column.rows) or max(column.rows) < min(before.rows))
        if before and apart and column.x0 - before.x1 < _BESIDE:
            kept[-1] = _union([before, column])
        else:
            kept.append(column)
    return kept


def _overlap(column: Column, line: Line) -> float:
    return min(column.x1, line.x1) - max(column.x0, line.x0)


def _under(line: Line, made: Sequence[Column]) -> list[int]:
    return [at for at, column in enumerate(made) if min(column.x1, line.x1) - max(column.x0, line.x0) > 1]


def into_columns(row: TextRow, made: Sequence[Column], words: PageWords) -> Cells:
    """Return the words of a row by column; a line over several is cut where its words begin or end as they do."""
    cells: Cells = [[] for _ in made]
    for line in _fragments(row):
        for part in _cut(line, [made[at] for at in _under(line, made)], words):
            cells[_column_of(part, made)].append(part)
    return cells


def _column_of(line: Line, made: Sequence[Column]) -> int:
    """Return where a line stands; a heading over several columns stands in the fullest of them."""
    over = _under(line, made)
    if len(over) > 1 and not any(_overlap(made[at], line) > _MOSTLY * (line.x1 - line.x0) for at in over):
        return max(over, key=lambda at: len(made[at].rows))
    return max(range(len(made)), key=lambda at: _overlap(made[at], line))


def _cut(line: Line, over: Sequence[Column], words: PageWords) -> list[Line]:
    if len(over) < 2:
        return [line]
    left = cut(line, [column.x0 - 1.5 for column in over[1:]], words)
    if len(left) == len(over) and all(abs(x.x0 - c.x0) <= _NEAR for x, c in zip(left[1:], over[1:], strict=True)):
        return left
    right = cut(line, [column.x1 + 1.5 for column in over[:-1]], words)
    if len(right) == len(over) and all(abs(x.x1 - c.x1) <= _NEAR for x, c in zip(right[:-1], over[:-1], strict=True)):
        return right
    return [line]


def unwrapped(found: Sequence[TextRow], cells: Sequence[Cells], made: Sequence[Column]) -> list[Cells]:
    """Return the rows of a table, those of its rows of text put together that the words of one cell run over."""
    steps = [(below.y0 - above.y0) / max(above.size, 0.1) for above, below in pairwise(found)]
    close = min((step for step in steps if step > _OVERPRINT), default=_TIGHT)
    is_gapped = any(step > _LOOSE * close for step in steps)
    merged: list[list[Cells]] = []
    for at, row in enumerate(cells):
        near = at > 0 and steps[at - 1] <= min(_LOOSE * close, _TIGHT)
        if near and _runs_on(merged[-1][-1], row, made, is_gapped):
            merged[-1].append(row)
        else:
            merged.append([row])
    return [[[line for row in group for line in row[at]] for at in range(len(made))] for group in merged]


def _runs_on(above: Cells, row: Cells, made: Sequence[Column], is_gapped: bool) -> bool:
    """Tell whether a row of text goes on with the cells above it: words only, none of which had room up there.

    Where the rows of the table stand apart, even its first column may go on, if another one is prose.
    """
    filled = [at for at, cell in enumerate(row) if cell]
    if any(is_number(as_row(row[at]).text) for at in filled):
        return False
    if all(above[at] and as_row(row[at]).text[:1].islower() for at in filled):
        return True
    prose = any(len(as_row(above[at]).text.split()) >= _PROSE for at in filled if at and above[at])
    may_begin = not row[0] or (is_gapped and prose)
    return may_begin and all(above[at] and _had_no_room(above[at], row[at], made[at]) for at in filled)


def _had_no_room(above: Sequence[Line], below: Sequence[Line], column: Column) -> bool:
    row, after = as_row(above), as_row(below)
    first_word = len(after.text.split()[0]) / len(after.text) * (after.x1 - after.x0)
    return (column.x1 - column.x0) - (row.x1 - row.x0) < first_word + _SPACE * row.size
