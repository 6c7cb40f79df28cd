"""The order in which a page is read: down one column, then down the next, and across the rows of a table.

A gutter is a vertical strip that few lines cross. Lines that cross it (a title, a wide figure, a table) cut the page
into bands; a band is read column by column only if both sides look like prose, else row by row, because a table has
gutters too. Columns are split again, so three columns are two cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from anabranch.corpus.reading.layout.lines import Line

Region = list[Line]
"""Lines that are read together, top to bottom, each row from side to side."""

_STEPS = 120
_MIDDLE = range(15 * _STEPS // 100, 85 * _STEPS // 100)
_CROSSING = 0.35
_DEEPEST = 3


def regions(lines: Sequence[Line], depth: int = 0) -> list[Region]:
    """Return the lines of one page cut into regions, in reading order."""
    cut = _gutter(lines) if depth < _DEEPEST else None
    if cut is None:
        return [list(lines)] if lines else []
    found: list[Region] = []
    for band in _bands(lines, cut):
        left = [line for line in band if line.x1 <= cut]
        right = [line for line in band if line.x0 >= cut]
        if len(left) + len(right) == len(band) and _is_prose(left) and _is_prose(right):
            found += regions(left, depth + 1) + regions(right, depth + 1)
        elif found and not _was_column(found[-1], cut):
            found[-1] = [*found[-1], *band]
        else:
            found.append(band)
    return found


def _was_column(region: Region, cut: float) -> bool:
    return all(line.x1 <= cut for line in region) or all(line.x0 >= cut for line in region)


def _gutter(lines: Sequence[Line]) -> float | None:
    """Return the x of the strip with the most lines clear on both sides and few across it, if there is one."""
    if len(lines) < 6:
        return None
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    best: tuple[int, list[float]] = (0, [])
    for step in _MIDDLE:
        x = left + (right - left) * step / _STEPS
        before = sum(line.x1 <= x for line in lines)
        after = sum(line.x0 >= x for line in lines)
        crossing = len(lines) - before - after
        worth = min(before, after) - crossing
        if crossing > _CROSSING * len(lines) or min(before, after) < 3 or worth < best[0]:
            continue
        best = (worth, [*best[1], x] if worth == best[0] else [x])
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


def _is_prose(lines: Sequence[Line]) -> bool:
    """Tell running text from the cells of a table: several lines, most of several words."""
    return len(lines) >= 2 and median(len(line.text.split()) for line in lines) >= 3
