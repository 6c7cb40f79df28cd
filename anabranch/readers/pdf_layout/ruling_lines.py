"""The straight lines drawn on a page, along its sides: what tables are ruled with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from anabranch.readers.pdf_layout.mupdf import Shape

_THICKEST = 3.5
_SHORTEST = 5.0
_SAME_LINE = 1.5
_BREAK = 3.0
_MOST = 6_000


class Ruling(NamedTuple):
    """A straight line along a side of the page, in points.

    Attributes:
        at: Its y where it runs across, its x where it runs down.
        start: Where it begins along its way.
        end: Where it ends.
    """

    at: float
    start: float
    end: float


class Rulings(NamedTuple):
    """The lines of a page that run across and those that run down, pieces of one line joined, in order of `at`."""

    across: tuple[Ruling, ...] = ()
    down: tuple[Ruling, ...] = ()


UNRULED = Rulings()


def rulings(shapes: Iterable[Shape]) -> Rulings:
    """Return the rulings among the shapes of a page: thin ones, and the sides of frames.

    A page with thousands of them is a drawing, and has none for us.
    """
    across: list[Ruling] = []
    down: list[Ruling] = []
    for shape in shapes:
        x0, y0, x1, y1 = shape["bbox"]
        width, height = x1 - x0, y1 - y0
        if height <= _THICKEST and width >= _SHORTEST:
            across.append(Ruling((y0 + y1) / 2, x0, x1))
        elif width <= _THICKEST and height >= _SHORTEST:
            down.append(Ruling((x0 + x1) / 2, y0, y1))
        elif shape["stroked"] and shape["isrect"] and min(width, height) > _THICKEST:
            across += [Ruling(y0, x0, x1), Ruling(y1, x0, x1)]
            down += [Ruling(x0, y0, y1), Ruling(x1, y0, y1)]
    if len(across) + len(down) > _MOST:
        return UNRULED
    return Rulings(_joined(across), _joined(down))


def _joined(pieces: Sequence[Ruling]) -> tuple[Ruling, ...]:
    """Put the pieces of one line together: on one height, and touching or nearly so."""
    levels: list[list[Ruling]] = []
    for piece in sorted(pieces):
        if levels and piece.at - levels[-1][0].at <= _SAME_LINE:
            levels[-1].append(piece)
        else:
            levels.append([piece])
    return tuple(ruling for level in levels for ruling in _whole(level))


def _whole(level: Sequence[Ruling]) -> list[Ruling]:
    at = level[len(level) // 2].at
    whole: list[Ruling] = []
    for piece in sorted(level, key=lambda piece: piece.start):
        if whole and piece.start - whole[-1].end <= _BREAK:
            whole[-1] = Ruling(at, whole[-1].start, max(whole[-1].end, piece.end))
        else:
            whole.append(Ruling(at, piece.start, piece.end))
    return whole
