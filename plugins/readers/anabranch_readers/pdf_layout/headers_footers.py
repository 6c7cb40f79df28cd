"""Running headers, footers and page numbers: what every page says again, and no passage should.

A row at the edge of a page goes when the same words, numbers aside, stand at the same height at the edge of many
pages, or when it is a number that keeps its distance from the count of pages.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from anabranch_readers.pdf_layout.text_lines import Line, PageLines
from anabranch_readers.pdf_layout.text_rows import TextRow, rows

_EDGE_ROWS = 2  # a title and a page number may stand below each other
_FEWEST = 3  # pages with the same words nearby: two chance ones happen
_MANY = 5  # pages, or half of a short document
_NEIGHBOURS = 4  # pages to either side; left and right pages have headers of their own
_QUARTER = 0.25  # share of pages on which a number beside a title has to count along
_LARGE = 1.3  # times the body's type: a heading
_HEIGHT_STEP = 6.0  # points
_ZONE = 0.15  # of the height of the page, at its top and its bottom
_LONGEST_NUMBER = 40
_NUMBER = re.compile(
    r"\W*(?:page|seite|pagina|página|p\.?)?\W*(\d{1,5})(?:\W*(?:of|/|von|sur|de)?\W*\d{1,5})?\W*", re.IGNORECASE
)
_VARYING = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)

Key = tuple[str, int, str]


def without_running(pages: Sequence[PageLines]) -> list[list[Line]]:
    """Return the lines of each page without running headers, footers and page numbers, order kept."""
    body = _body_size(pages)
    edges = [_edges(page, body) for page in pages]
    drop = _repeated(pages, edges) | _page_numbers(pages, edges)
    kept = []
    for at, page in enumerate(pages):
        gone = {id(line) for place, row in edges[at] if (at, place) in drop for line in row.lines}
        left = [line for line in page.lines if id(line) not in gone]
        # A page with nothing but a repeated line, a slide for instance, says that line.
        words = any(letter.isalpha() for line in page.lines for letter in line.text)
        kept.append(left or (list(page.lines) if words else []))
    return kept


# Its place (0, 1 from the top, -1, -2 from the bottom) and the row.
Edge = tuple[int, TextRow]


def _body_size(pages: Sequence[PageLines]) -> float:
    letters: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            letters[line.size] += len(line.text)
    return letters.most_common(1)[0][0] if letters else 0.0


def _edges(page: PageLines, body: float) -> list[Edge]:
    """Return the outermost rows of a page; what is set large is a heading, even if only its number changes."""
    if not page.upright:
        return []
    found = rows(page.lines)
    top = list(enumerate(found[:_EDGE_ROWS]))
    bottom = [(place, found[place]) for place in range(-1, -_EDGE_ROWS - 1, -1) if len(found) + place >= len(top)]
    return [(place, row) for place, row in top + bottom if row.size <= _LARGE * body]


def _repeated(pages: Sequence[PageLines], edges: Sequence[Sequence[Edge]]) -> set[tuple[int, int]]:
    where: dict[Key, list[tuple[int, int]]] = defaultdict(list)
    for at, found in enumerate(edges):
        for place, row in found:
            words = _VARYING.sub("#", row.text.casefold())
            side = "top" if place >= 0 else "bottom"
            depth = row.y0 if place >= 0 else pages[at].height - row.y0
            if sum(letter.isalpha() for letter in words) >= 3 and depth <= _ZONE * pages[at].height:
                where[side, round(row.y0 / _HEIGHT_STEP), words].append((at, place))
    drop: set[tuple[int, int]] = set()
    for (side, height, words), places in where.items():
        # A height near the border of two steps is counted in either.
        near = [*places, *where.get((side, height - 1, words), ()), *where.get((side, height + 1, words), ())]
        on = {at for at, _ in near}
        if len(on) >= min(_MANY, len(pages) / 2):
            drop.update((at, place) for at, place in places if _is_usual(at, on))
    return drop


def _is_usual(page: int, on: Collection[int]) -> bool:
    """Tell whether something on `page` is also on its neighbours; headers change with the chapter, or the side."""
    return sum(near in on for near in range(page - _NEIGHBOURS, page + _NEIGHBOURS + 1)) >= _FEWEST


def _page_numbers(pages: Sequence[PageLines], edges: Sequence[Sequence[Edge]]) -> set[tuple[int, int]]:
    """Find the numbers, alone or beside a running title, that count as the pages do."""
    offsets: dict[tuple[int, int], tuple[int, bool]] = {}
    for at, found in enumerate(edges):
        for place, row in found:
            number, alone = _number(row)
            if number is not None and (alone or place in {0, -1}):
                offsets[at, place] = (number - pages[at].number, alone)
    where: dict[int, set[int]] = defaultdict(set)
    for (at, _), (offset, _) in offsets.items():
        where[offset].add(at)
    return {
        (at, place)
        for (at, place), (offset, alone) in offsets.items()
        if _is_usual(at, where[offset]) and (alone or len(where[offset]) >= _QUARTER * len(pages))
    }


def _number(row: TextRow) -> tuple[int | None, bool]:
    """Return the page number that a row may hold, and whether it holds nothing else."""
    cells = row.text.split("\t")
    for cell in (cells[0], cells[-1]) if len(cells) <= 3 else ():
        number = _NUMBER.fullmatch(cell) if len(cell) <= _LONGEST_NUMBER else None
        if number:
            return int(number.group(1)), len(cells) == 1
    return None, False
