"""Running text told from cells, labels and formulas; and the numbers of its lines, which are no part of it.

Manuscripts, transcripts, bills and patents count their lines in the margin, each one or each fifth.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from anabranch_readers.pdf_layout.text_lines import Line, PageLines

_ENTRY = re.compile(r"\w, \d[\d ,f–-]*$")
_LONGEST_END = 200  # of an entry: what comes before its last page numbers does not matter
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7ff]")
_NUMBER = re.compile(r"\d{1,4}")
_NUMBERED = re.compile(r"(\d{1,4})\s+(?=\S)")
_FEWEST, _FEWEST_LINES = 3, 8  # of numbers that count by fives, of those that count by ones
_COUNTING = 0.8  # share of steps that are the usual one; a page number may be among them
_ALIGNED = 2.0  # points
_LEVEL = 0.5  # of the type size: small numbers stand a little higher
_TEXTS, _FULL = 0.6, 0.6  # share of what stands beside that is running text, and that is as wide as the widest
_ALL = 0.6  # share of the lines of text that are numbered where the numbers count by ones


def is_entry(text: str) -> bool:
    """Tell an entry of an index, which ends in page numbers; a long one wraps, and only its last line does."""
    return bool(_ENTRY.search(text[-_LONGEST_END:]))


def is_text(line: Line) -> bool:
    """Tell a line of running text, or an entry of an index, from a cell, a label and a formula."""
    if is_entry(line.text):
        return True
    words = line.text.split()
    letters = sum(map(str.isalpha, line.text))
    return (len(words) >= 3 or len(_WIDE.findall(line.text)) >= 8) and letters >= 0.6 * sum(map(len, words))


def without_line_numbers(pages: Sequence[PageLines]) -> list[PageLines]:
    """Return the pages of a document without the numbers that count their lines, in a margin or before the words.

    Where most pages are numbered the numbers of the others, in the same place, go as well: of pages of tables.
    """
    found = [_numbers(page.lines) for page in pages]
    edges = {round(edge) for numbers in found for line in numbers for edge in (line.x0, line.x1)}
    is_usual = 2 * sum(map(bool, found)) > len(pages)
    kept = []
    for page, numbers in zip(pages, found, strict=True):
        gone = {id(line) for line in (_in_margin(page.lines, edges) if is_usual and not numbers else numbers)}
        lines = [line for line in page.lines if id(line) not in gone] if gone else _without_prefixes(page.lines)
        kept.append(
            page if len(lines) == len(page.lines) and lines is page.lines else replace(page, lines=tuple(lines))
        )
    return kept


def _in_margin(lines: Sequence[Line], edges: Collection[int]) -> list[Line]:
    return [x for x in lines if _NUMBER.fullmatch(x.text) and (round(x.x0) in edges or round(x.x1) in edges)]


def _numbers(lines: Sequence[Line]) -> list[Line]:
    """Return the lines of one page that are the numbers of others, in its margins."""
    numbers = [line for line in lines if _NUMBER.fullmatch(line.text)]
    texts = [line for line in lines if is_text(line)]
    if len(numbers) < _FEWEST or len(texts) < _FEWEST:
        return []
    starts, ends = sorted(line.x0 for line in texts), sorted(line.x1 for line in texts)
    few = len(texts) // 20  # a title may reach into the margin
    left = [number for number in numbers if number.x1 <= starts[few]]
    right = [number for number in numbers if number.x0 >= ends[-1 - few]]
    columns = (column for margin in (left, right) for column in _columns(margin))
    return [number for column in columns if _counts_lines(column, lines, texts) for number in column]


def _columns(numbers: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield numbers that stand below each other, their right edges level or their left edges."""
    for places in ([number.x1 for number in numbers], [number.x0 for number in numbers]):
        for at in {round(place) for place in places}:
            column = [x for x, place in zip(numbers, places, strict=True) if abs(place - at) <= _ALIGNED]
            if len(column) >= _FEWEST:
                yield sorted(column, key=lambda line: line.y0)


def _counts_lines(column: Sequence[Line], lines: Sequence[Line], texts: Sequence[Line]) -> bool:
    step = _step([int(number.text) for number in column])
    if not step or (step < 5 and len(column) < _FEWEST_LINES):
        return False
    # The first column of a table counts its rows, too, but has cells beside it, and none where a line is not numbered.
    ids = {id(number) for number in column}
    heights = sorted((number.y0 + number.y1) / 2 for number in column)
    beside = [line for line in lines if id(line) not in ids and _is_level(line, heights)]
    prose = [line for line in texts if _is_level(line, heights)]
    widest = max((line.x1 - line.x0 for line in prose), default=0.0)
    full = sum(line.x1 - line.x0 >= _FULL * widest for line in prose)
    within = [line for line in texts if heights[0] <= line.y1 and line.y0 <= heights[-1]]
    is_all = step >= 5 or len(prose) >= _ALL * len(within)
    return is_all and len(prose) >= _TEXTS * max(1, len(beside)) and 2 * full >= len(prose)


def _is_level(line: Line, heights: Sequence[float]) -> bool:
    middle, most = (line.y0 + line.y1) / 2, _LEVEL * line.size
    return any(abs(height - middle) <= most for height in heights)


def _step(numbers: Sequence[int]) -> int:
    """Return by how much numbers count upwards, 0 if they do not."""
    steps = [below - above for above, below in pairwise(numbers)]
    usual = max(set(steps), key=steps.count, default=0)
    return usual if usual > 0 and steps.count(usual) >= _COUNTING * len(steps) else 0


def _without_prefixes(lines: Sequence[Line]) -> Sequence[Line]:
    """Take the numbers from the beginning of lines that say them and their words without a gap."""
    found = [(line, _NUMBERED.match(line.text)) for line in sorted(lines, key=lambda line: line.y0)]
    numbered = {id(line): match.end() for line, match in found if match}
    counted = [int(match.group(1)) for _, match in found if match]
    if len(counted) < max(_FEWEST_LINES, _ALL * len(lines)) or _step(counted) != 1:
        return lines
    return [_cut(line, numbered[id(line)]) if id(line) in numbered else line for line in lines]


def _cut(line: Line, start: int) -> Line:
    return replace(line, text=line.text[start:], x0=line.x0 + (line.x1 - line.x0) * start / len(line.text))
