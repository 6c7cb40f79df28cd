"""Rows put together into paragraphs and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from statistics import median

from anabranch.readers.dehyphenation import join_all
from anabranch_readers.page_contents import PageWords
from anabranch_readers.pdf_layout.page_tables import PdfTable, continued, texts
from anabranch_readers.pdf_layout.text_rows import TextRow
from anabranch_readers.pdf_layout.whitespace_tables import aligned

_LOOSE = 1.35  # times the usual line pitch: the next paragraph
_LOOSE_TABLE = 2.2  # rows of a table stand further apart than lines of prose
_INDENT = 0.7  # of the type size
_TITLE = 1.25  # times the type of the row below
_FULL = 30  # characters of a line that reaches the end of its column
_SAME_START = 2.0  # points
_NAMED = 0.75  # share of the columns that a row names which heads them
_CENTRED = 4.0  # times the type size, that a heading is shorter on either side than the text below it
_ENDED = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*$")
_BULLET = re.compile(r"[•▪‣◦●○■]\s")
_ITEM = re.compile(r"(?:[•▪‣◦●○■–—*·-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)])\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Rows that belong together.

    Attributes:
        text: Prose on one line; a table as Markdown, or with a tab between cells where no columns can be made out.
        page: 1-based.
        size: Font size of most of it.
        bold: Whether all of it is bold.
        italic: Whether all of it is italic.
        rows: How many rows it covers.
        table: Whether it is a table.
        grid: The table, where its columns are known.
        lead: How many of its first characters are set in bold or in italics, where the rest is not.
        is_run_in: Whether it is a heading that the text below it goes on with on the same row.
    """

    text: str
    page: int
    size: float
    bold: bool
    italic: bool
    rows: int
    table: bool
    grid: PdfTable | None = None
    lead: int = 0
    is_run_in: bool = False


def paragraphs(
    regions: Sequence[Sequence[TextRow]], page: int, vocabulary: frozenset[str], words: PageWords = list
) -> list[Paragraph]:
    """Return the paragraphs of one page; one that runs on from a column into the next stays whole.

    Args:
        regions: Rows of each region, in reading order.
        page: 1-based number of the page.
        vocabulary: Of the document, which decides on hyphens at line ends.
        words: Of the page with their places.
    """
    groups: list[list[TextRow]] = []
    for region in regions:
        found = _groups(region)
        if groups and found and _runs_on(groups[-1], found[0]):
            groups[-1] = groups[-1] + found.pop(0)
        groups += found
    made: list[Paragraph] = []
    for at, group in enumerate(groups):
        above = groups[at - 1] if at else []
        grid = _headed(above[0], group, vocabulary, words) if len(above) == 1 else None
        made = [*made[:-1], _of_table(grid, page)] if grid else [*made, _paragraph(group, page, vocabulary, words)]
    return made


def _headed(head: TextRow, group: Sequence[TextRow], vocabulary: frozenset[str], words: PageWords) -> PdfTable | None:
    """Return a table with the row above it, whose words name its columns though no wide gap parts them."""
    close = 0 < group[0].y0 - head.y0 <= _LOOSE_TABLE * head.size
    if not close or group[0].cells < 2 or _table(group) or _table([head]) or _ENDED.search(head.text):
        return None
    grid = aligned([head, *group], vocabulary, words)
    # It is cut only where all its words begin or end as the columns below them do.
    named = sum(map(bool, grid.cells[0])) if grid and grid.header else 0
    return grid if grid and named >= max(3, _NAMED * len(grid.cells[0])) else None


def _groups(region: Sequence[TextRow]) -> list[list[TextRow]]:
    tabular = _tabular(region)
    pitch = _pitch(region)
    right = max((row.x1 for row in region), default=0.0)
    groups: list[list[TextRow]] = []
    for at, row in enumerate(region):
        is_item = at > 0 and _is_next_item(groups[-1][0], row)
        if at and not is_item and not _starts(region[at - 1], row, tabular[at - 1], tabular[at], pitch, right):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _tabular(region: Sequence[TextRow]) -> list[bool]:
    """Mark the rows of tables.

    Those with cells, a lone row between two of them, a caption over the columns, and what runs on below any cell but
    the first.
    """
    cells = [row.cells >= 2 for row in region]
    left = min((row.x0 for row in region), default=0.0)
    starts: list[float] = []
    marked: list[bool] = []
    for at, row in enumerate(region):
        before, after = at > 0 and cells[at - 1], at + 1 < len(cells) and cells[at + 1]
        # A title above the names of its authors is larger than what stands in the columns below it.
        is_title = after and row.size > _TITLE * region[at + 1].size
        over_columns = row.x0 > left + 3 * row.size and len(row.text.split()) <= 8 and not is_title
        between = (before and _is_close_pair(region, cells, at)) or (at > 1 and _is_close_pair(region, cells, at - 1))
        under = at > 0 and marked[-1] and any(abs(row.x0 - start) < _SAME_START for start in starts)
        marked.append(cells[at] or (after and (before or over_columns)) or under or between)
        if cells[at]:
            starts = [line.x0 for line in row.lines[1:]]
    return marked


def _is_close_pair(region: Sequence[TextRow], cells: Sequence[bool], at: int) -> bool:
    """Tell two lone rows that stand as close to the rows of cells above and below as to each other: long labels."""
    if at + 2 >= len(cells) or [cells[at - 1], *cells[at : at + 3]] != [True, False, False, True]:
        return False
    steps = [below.y0 - above.y0 for above, below in pairwise(region[at - 1 : at + 3])]
    return max(steps) <= _LOOSE * min(steps)


def _pitch(region: Sequence[TextRow]) -> float:
    """Return the usual distance from one row to the next as a multiple of the font size."""
    steps = [(below.y0 - above.y0) / above.size for above, below in pairwise(region) if above.size]
    close = [step for step in steps if 0 < step < 2.5]
    return median(close) if close else 1.2


def _starts(above: TextRow, row: TextRow, was_table: bool, is_table: bool, pitch: float, right: float) -> bool:
    step = (row.y0 - above.y0) / max(above.size, row.size, 0.1)
    if was_table and is_table:
        return step > _LOOSE_TABLE * pitch
    if was_table != is_table or step > _LOOSE * min(pitch, 1.6) or _other_style(above, row):
        return True
    # A heading that ends in a full stop, then the next heading; where it fills its column, it was wrapped there.
    if above.bold and _ENDED.search(above.text) and above.x1 < right - _SAME_START:
        return True
    if _is_centred(above, row):
        return True
    if _BULLET.match(row.text) or (_ITEM.match(row.text) and (_ITEM.match(above.text) or _ENDED.search(above.text))):
        return True
    indented = row.x0 - above.x0 > _INDENT * row.size
    return indented and bool(_ENDED.search(above.text))


def _is_next_item(first: TextRow, row: TextRow) -> bool:
    """Tell the next item of a list, below the end of the one before."""
    aligned = abs(row.x0 - first.x0) < 0.5 * row.size
    return aligned and bool(_ITEM.match(row.text) and _ITEM.match(first.text))


def _other_style(above: TextRow, row: TextRow) -> bool:
    if abs(above.size - row.size) > 0.08 * max(above.size, row.size):
        return True
    # The first words of a list item are often bold, and so are those of a paragraph, which then runs on.
    fills = row.text[0].islower() and len(above.text) >= _FULL and above.x1 > row.x1 - _CENTRED * row.size
    # A title with a few words of the text behind it is mostly bold, but does not end so.
    is_bold = above.bold and (above.lead == len(above.text) or not _ENDED.search(above.text[: above.lead]))
    return is_bold != row.bold and not ((_BULLET.match(above.text) or fills) and not _ENDED.search(above.text))


def _is_centred(above: TextRow, row: TextRow) -> bool:
    """Tell a line in the middle of the column above a line that fills it: a heading, in whatever type."""
    left, right = above.x0 - row.x0, row.x1 - above.x1
    return min(left, right) > _CENTRED * row.size and abs(left - right) < row.size


def _runs_on(before: Sequence[TextRow], after: Sequence[TextRow]) -> bool:
    last, first = before[-1], after[0]
    if _table(before) or _table(after):
        return False
    prose = last.cells == 1 and first.cells == 1 and not _other_style(last, first)
    return prose and not _ENDED.search(last.text) and first.text[0].islower()


def _table(group: Sequence[TextRow]) -> PdfTable | None:
    """Return the table that a group is, where rulings told it from the text."""
    first = group[0].lines[0]
    return first if isinstance(first, PdfTable) else None


def _paragraph(group: Sequence[TextRow], page: int, vocabulary: frozenset[str], words: PageWords) -> Paragraph:
    tabbed = any(row.cells >= 2 for row in group)
    grid = _table(group) or (aligned(group, vocabulary, words) if tabbed else None)
    longest = max(group, key=lambda row: len(row.text))
    is_bold, is_italic = all(row.bold for row in group), all(row.italic for row in group)
    if grid:
        return _of_table(grid, page)
    lines = [row.text for row in group]
    text = "\n".join(lines) if tabbed else join_all(lines, vocabulary)
    lead = 0 if tabbed else _lead(group, vocabulary)
    return Paragraph(text, page, longest.size, is_bold, is_italic, len(group), tabbed, lead=lead)


def _lead(group: Sequence[TextRow], vocabulary: frozenset[str]) -> int:
    """Return how many characters at the start of a paragraph stand out; none where the rows below stand in from it."""
    whole = sum(1 for _ in takewhile(lambda row: row.lead == len(row.text), group))
    hangs = len(group) > 1 and group[1].x0 - group[0].x0 > _INDENT * group[0].size
    if whole == len(group) or hangs:
        return 0
    return len(join_all([*(row.text for row in group[:whole]), group[whole].text[: group[whole].lead]], vocabulary))


def _of_table(grid: PdfTable, page: int) -> Paragraph:
    return Paragraph(grid.text, page, grid.size, grid.bold, grid.italic, len(grid.cells), table=True, grid=grid)


def in_parts(found: Sequence[Paragraph]) -> Iterator[Paragraph]:
    """Yield the paragraphs, long tables in parts, and the part on the next page with the header of the first.

    Args:
        found: Of a whole document, in reading order.
    """
    above: Paragraph | None = None
    for paragraph in found:
        grid = paragraph.grid
        if grid and above and above.grid and paragraph.page == above.page + 1:
            grid = continued(above.grid, grid) or grid
        above = replace(paragraph, grid=grid)
        if grid is None:
            yield paragraph
        else:
            yield from (replace(paragraph, text=text, grid=None) for text in texts(grid))
