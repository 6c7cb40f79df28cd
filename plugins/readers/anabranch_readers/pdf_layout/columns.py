"""The order in which a page is read: down one column, then down the next, and across the rows of a table.

A gutter is a vertical strip with running text on both sides, judged over the height of the page: figures, formulas and
code in one column say nothing against it. Lines that cross it (a title, a wide figure) cut the page into bands, and
each band is read column by column, except where a table lies across. Columns are split again, so three are two cuts,
and so are the lines that cross: an article above another has a gutter of its own. Of a text that runs from
right to left the right column comes first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from anabranch_readers.pdf_layout.line_numbers import is_entry, is_text
from anabranch_readers.pdf_layout.text_lines import Line
from anabranch_readers.pdf_layout.text_rows import runs_backwards

# Lines that are read together, top to bottom, each row from side to side.
Region = list[Line]
_STEPS = 120  # places at which a gutter is looked for
_MIDDLE = range(15 * _STEPS // 100, 85 * _STEPS // 100)  # a gutter near the side is an indent
_DEEPEST = 3  # cuts, so eight columns at most
_BLANK = 1.5  # line heights: more than between two paragraphs
_OVERHANG = 1.5  # of the type size: a formula that sticks out of its column
_FEWEST, _MOSTLY = 3, 0.2  # lines of text on either side, and their share of its letters
_LEVEL, _LEVELLED = 0.25, 0.7  # of the type size, by which the cells of one row differ; share that stand on one
_FULL = 0.8  # of the width of its longest line


def regions(lines: Sequence[Line], depth: int = 0) -> list[Region]:
    """Return the lines of one page cut into regions, in reading order."""
    cut = _gutter(lines) if depth < _DEEPEST else None
    if cut is None:
        return _regions_of_parts(lines, depth)
    found: list[Region] = []
    step = -1 if runs_backwards(lines) else 1
    for crosses, band in _bands(lines, cut):
        if crosses:  # by a gutter of its own, in another place
            found += regions(band, depth + 1)
            continue
        for is_across, part in _split_at_tables(band, cut):
            sides = () if is_across else _sides(part, cut)[::step]
            found += [region for side in sides for region in regions(side, depth + 1)] if sides else [part]
    return found


def _regions_of_parts(lines: Sequence[Line], depth: int) -> list[Region]:
    """Look for columns in the parts of a page that blank strips set apart, where the whole of it has none."""
    parts = _parts(lines) if depth < _DEEPEST else []
    found = [regions(part, _DEEPEST - 1) for part in parts] if len(parts) > 1 else []
    if any(len(part) > 1 for part in found):
        return [region for part in found for region in part]
    return [list(lines)] if lines else []


def _parts(lines: Sequence[Line]) -> list[Region]:
    parts: list[Region] = []
    bottom = 0.0
    for line in sorted(lines, key=lambda line: (line.y0, line.x0)):
        if not parts or line.y0 - bottom > _BLANK * line.size:
            parts.append([])
        parts[-1].append(line)
        bottom = max(bottom, line.y1)
    return parts


def _gutter(lines: Sequence[Line]) -> float | None:
    """Return the x of the strip with the most lines of text beside each other on both its sides, if there is one."""
    texts = sorted((line for line in lines if is_text(line)), key=lambda line: line.y0)
    if len(texts) < 2 * _FEWEST:
        return None
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    starts, ends = sorted(line.x0 for line in texts), sorted(line.x1 for line in texts)
    worth: dict[float, int] = {}
    known: dict[tuple[int, int], int] = {}  # most places part the lines as the place before them does
    for x in (left + (right - left) * step / _STEPS for step in _MIDDLE):
        parted = bisect_right(ends, x), len(texts) - bisect_left(starts, x)
        if min(parted) >= _FEWEST:
            known[parted] = worth[x] = known[parted] if parted in known else _count_pairs(texts, x)
    most = max(worth.values(), default=0)
    if most < _FEWEST:
        return None
    # Of places that are as good as each other the middle one, which is the middle of the gutter.
    best = [x for x in worth if worth[x] == most]
    cut = best[len(best) // 2]
    sides = _sides([line for line in lines if not _crosses(line, cut)], cut)
    return cut if all(map(_is_prose, sides)) and not _are_cells(*sides) else None


def _count_pairs(texts: Sequence[Line], x: float) -> int:
    """Return how many lines on one side of a place have one on the other; what crosses it ends a run of them."""
    runs = [[0, 0]]
    for line in texts:
        if line.x1 <= x:
            runs[-1][0] += 1
        elif line.x0 >= x:
            runs[-1][1] += 1
        elif runs[-1] != [0, 0]:
            runs.append([0, 0])
    # One line on either side is the row of what crosses between them: the middle one of three columns.
    return sum(each for each in map(min, runs) if each > 1)


def _bands(lines: Sequence[Line], cut: float) -> list[tuple[bool, Region]]:
    """Return the lines in bands from the top, those of rows that cross the gutter told from those that do not."""
    rows: list[tuple[bool, Region]] = []
    for line in sorted(lines, key=lambda line: (line.y0, line.x0)):
        crosses = _crosses(line, cut)
        above = rows[-1] if rows else None
        # What stands beside a line that crosses is on its row, unless it is a line of a column.
        if above and (crosses or above[0]) and line.y0 < (above[1][0].y0 + above[1][0].y1) / 2:
            rows[-1] = (True, [*above[1], line])
        else:
            rows.append((crosses, [line]))
    # Where only one side has something, it belongs to what crosses above and below it.
    return _joined([(crosses or not all(_sides(band, cut)), band) for crosses, band in _joined(rows)])


def _joined(parts: Sequence[tuple[bool, Region]]) -> list[tuple[bool, Region]]:
    """Return parts of a page with those of one kind that follow each other as one."""
    runs = groupby(parts, key=itemgetter(0))
    return [(is_across, [line for _, part in run for line in part]) for is_across, run in runs]


def _crosses(line: Line, cut: float) -> bool:
    most = _OVERHANG * line.size
    return line.x0 < cut - most and line.x1 > cut + most


def _sides(lines: Sequence[Line], cut: float) -> tuple[Region, Region]:
    left = [line for line in lines if line.x0 + line.x1 < 2 * cut]
    return left, [line for line in lines if line.x0 + line.x1 >= 2 * cut]


def _split_at_tables(band: Region, cut: float) -> list[tuple[bool, Region]]:
    """Return the parts of a band from the top, those that are read across told from those that are not."""
    return _joined([(_lies_across(part, cut), part) for part in _parts(band)])


def _lies_across(part: Region, cut: float) -> bool:
    """Tell a table over both columns from two columns, one of which may hold a figure or code."""
    left, right = _sides(part, cut)
    return min(len(left), len(right)) >= 2 and not _is_prose(left) and not _is_prose(right) and _are_level(left, right)


def _are_cells(left: Region, right: Region) -> bool:
    """Tell the cells of a table from columns on one grid of lines, whose lines mostly reach from side to side."""
    return _are_level(left, right) and not (_fills(left) and _fills(right))


def _are_level(left: Region, right: Region) -> bool:
    """Tell whether most lines of the emptier side stand on a row of the other."""
    few, many = sorted((left, right), key=len)
    heights = sorted(line.y1 for line in many)
    level = [bisect_right(heights, x.y1 + _LEVEL * x.size) > bisect_left(heights, x.y1 - _LEVEL * x.size) for x in few]
    return sum(level) >= _LEVELLED * len(level)


def _fills(side: Region) -> bool:
    texts = [line for line in side if is_text(line)]
    entries = sum(is_entry(line.text) for line in texts)
    widest = max(line.x1 - line.x0 for line in texts)
    full = sum(line.x1 - line.x0 >= _FULL * widest for line in texts)
    return 2 * max(full, entries) >= len(texts)


def _is_prose(lines: Sequence[Line]) -> bool:
    """Tell a column, with figures and formulas in it, from the cells of a table."""
    texts = [line for line in lines if is_text(line)]
    letters = sum(len(line.text) for line in lines)
    return len(texts) >= _FEWEST and sum(len(line.text) for line in texts) >= _MOSTLY * letters
