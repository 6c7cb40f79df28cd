"""The order in which a page is read: down one column, then down the next, and across the rows of a table.

A gutter is a vertical strip that few lines cross. Lines that cross it (a title, a wide figure, a table) cut the page
into bands; a band is read column by column only if both sides look like prose, else row by row, because a table has
gutters too. Columns are split again, so three columns are two cuts.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from statistics import median

from anabranch.readers.pdf_layout.text_lines import Line

# Lines that are read together, top to bottom, each row from side to side.
Region = list[Line]
_STEPS = 120  # places at which a gutter is looked for
_MIDDLE = range(15 * _STEPS // 100, 85 * _STEPS // 100)  # a gutter near the side is an indent
_CROSSING = 0.35  # share of lines: titles and tables may lie across the columns
_DEEPEST = 3  # cuts, so eight columns at most
_BLANK = 1.5  # line heights: more than between two paragraphs
_ENTRY = re.compile(r"\w, (?:\d+[ ,f–-]*)+$")
_ENTRIES = 0.4  # long entries of an index wrap, and only their last line ends in a number


def regions(lines: Sequence[Line], depth: int = 0) -> list[Region]:
    """Return the lines of one page cut into regions, in reading order."""
    cut = _gutter(lines) if depth < _DEEPEST else None
    if cut is None:
        return _regions_of_parts(lines, depth)
    found: list[Region] = []
    for band in _bands(lines, cut):
        left = [line for line in band if line.x1 <= cut]
        right = [line for line in band if line.x0 >= cut]
        if len(left) + len(right) == len(band) and (_are(_is_prose, left, right) or _are(_is_index, left, right)):
            found += regions(left, depth + 1) + regions(right, depth + 1)
        elif found and not _was_column(found[-1], cut):
            found[-1] = [*found[-1], *band]
        else:
            found.append(band)
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


def _was_column(region: Region, cut: float) -> bool:
    return all(line.x1 <= cut for line in region) or all(line.x0 >= cut for line in region)


def _gutter(lines: Sequence[Line]) -> float | None:
    """Return the x of the strip with the most lines clear on both sides and few across it, if there is one."""
    if len(lines) < 6:
        return None
    starts, ends = sorted(line.x0 for line in lines), sorted(line.x1 for line in lines)
    left, right = starts[0], ends[-1]
    best: tuple[int, list[float]] = (0, [])
    for step in _MIDDLE:
        x = left + (right - left) * step / _STEPS
        before, after = bisect_right(ends, x), len(lines) - bisect_left(starts, x)
        crossing = len(lines) - before - after
        worth = min(before, after) - crossing
        if crossing > _CROSSING * len(lines) or min(before, after) < 3 or worth < best[0]:
            continue
        best = (worth, [*best[1], x] if worth == best[0] else [x])
    # Of places that are as good as each other the middle one, which is the middle of the gutter.
    return best[1][len(best[1]) // 2] if best[1] else None


def _bands(lines: Sequence[Line], cut: float) -> list[Region]:
    bands: list[Region] = []
    crossed = False
    for line in sorted(lines, key=lambda line: (line.y0, line.x0)):
        crosses = line.x0 < cut < line.x1
        if not bands or crosses != crossed:
            bands.append([])
        bands[-1].append(line)
        crossed = crosses
    return bands


def _are(test: Callable[[Region], bool], left: Region, right: Region) -> bool:
    return test(left) and test(right)


def _is_index(lines: Region) -> bool:
    """Tell the entries of an index, most of which end in page numbers, from the cells of a table."""
    return len(lines) >= 3 and sum(bool(_ENTRY.search(line.text)) for line in lines) >= _ENTRIES * len(lines)


def _is_prose(lines: Sequence[Line]) -> bool:
    """Tell running text from the cells of a table: several lines, most of several words."""
    return len(lines) >= 2 and median(len(line.text.split()) for line in lines) >= 3
