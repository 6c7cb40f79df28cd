"""How search, building and memory grow with the passages, drawn on logarithmic axes from the figures that are kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import drawsvg

from benchmarks.at_scale.figures import Figures
from benchmarks.at_scale.systems import NAMES
from benchmarks.drawing import BLUE, GREEN, GRID, ORANGE, drawing_of, text_at

COLOURS = dict(zip(NAMES, (BLUE, ORANGE, GREEN), strict=True))
SIDE, LEFT, TOP, GAP, FOOT = 240, 60, 30, 80, 70
Series = dict[str, list[tuple[float, float]]]
"""Points of passages and the value, by system."""


def _search(figures: Figures) -> float | None:
    return next((each["cpu"] for each in figures.searches if each["arm"] == "hybrid"), None)


def _build(figures: Figures) -> float | None:
    return figures.facts.get("build_cpu")


def _peak(figures: Figures) -> float | None:
    after: dict[str, float] = figures.facts.get("after_search", {})
    return after.get("peak")


PANELS: dict[str, Callable[[Figures], float | None]] = {
    "hybrid search, CPU-ms": _search,
    "building, CPU-s": _build,
    "peak memory of searching, MB": _peak,
}


def curves_of(figures: Sequence[Figures]) -> str:
    """Return an SVG: one panel per measure, one line per system."""
    drawing = drawing_of(LEFT + len(PANELS) * (SIDE + GAP), TOP + SIDE + FOOT)
    for place, (title, value) in enumerate(PANELS.items()):
        series: Series = {}
        for each in figures:
            if found := value(each):
                series.setdefault(each.system, []).append((each.size, found))
        if series:
            _panel(drawing, title, series, LEFT + place * (SIDE + GAP))
    for place, (system, name) in enumerate(NAMES.items()):
        x, y = LEFT + place * 130, TOP + SIDE + 52
        drawing.append(drawsvg.Line(x, y, x + 24, y, stroke=COLOURS[system], stroke_width=2))
        drawing.append(text_at(name, x + 30, y + 4))
    return str(drawing.as_svg()) + "\n"


def _panel(drawing: drawsvg.Drawing, title: str, series: Series, left: float) -> None:
    points = [point for line in series.values() for point in line]
    (first, last), (low, high) = (_decades([point[axis] for point in points]) for axis in (0, 1))

    def place(passages: float, value: float) -> tuple[float, float]:
        across, up = (math.log10(passages) - first) / (last - first), (math.log10(value) - low) / (high - low)
        return left + across * SIDE, TOP + SIDE * (1 - up)

    drawing.append(text_at(title, left, TOP - 12, weight="bold"))
    for power in range(first, last + 1):
        x, _ = place(10**power, 10**low)
        drawing.append(drawsvg.Line(x, TOP, x, TOP + SIDE, stroke=GRID))
        drawing.append(text_at(f"{10**power:,}", x, TOP + SIDE + 18, anchor="middle"))
    drawing.append(text_at("passages", left + SIDE / 2, TOP + SIDE + 34, anchor="middle"))
    for power in range(low, high + 1):
        _, y = place(10**first, 10**power)
        drawing.append(drawsvg.Line(left, y, left + SIDE, y, stroke=GRID))
        drawing.append(text_at(f"{10**power:,}", left - 6, y + 4, anchor="end"))
    for system, line in series.items():
        corners = [place(*point) for point in sorted(line)]
        flat = [number for corner in corners for number in corner]
        if len(corners) > 1:
            drawing.append(drawsvg.Lines(*flat, fill="none", stroke=COLOURS[system], stroke_width=2))
        for corner in corners:
            drawing.append(drawsvg.Circle(*corner, 3.5, fill=COLOURS[system]))


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten around the values, at least one apart."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)
