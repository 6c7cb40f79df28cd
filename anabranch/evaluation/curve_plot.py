"""Risk against coverage as a picture: a line per collection, and a dot where the threshold in force lies on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import drawsvg

from anabranch.evaluation.bar_plot import COLOURS, GRID, text
from anabranch.evaluation.risk_coverage import Point, at_threshold

LEFT, TOP, SIZE, LEGEND, FOOT = 60, 20, 360, 200, 50


def plot_of_curves(curves: Mapping[str, Sequence[Point]], threshold: float) -> str:
    """Return an SVG.

    Args:
        curves: By collection, from the surest questions to all.
        threshold: Confidence from which a question is answered.
    """
    drawing = drawsvg.Drawing(LEFT + SIZE + LEGEND, TOP + SIZE + FOOT, font_family="sans-serif")
    drawing.append(drawsvg.Rectangle(0, 0, LEFT + SIZE + LEGEND, TOP + SIZE + FOOT, fill="white"))
    for tenth in range(0, 11, 2):
        share = tenth / 10
        drawing.append(drawsvg.Line(_x(share), _y(0), _x(share), _y(1), stroke=GRID))
        drawing.append(drawsvg.Line(_x(0), _y(share), _x(1), _y(share), stroke=GRID))
        drawing.append(text(f"{share:.1f}", _x(share), _y(0) + 16, anchor="middle"))
        drawing.append(text(f"{share:.1f}", _x(0) - 8, _y(share) + 4, anchor="end"))
    drawing.append(text("coverage: share of questions answered", _x(0.5), _y(0) + 36, anchor="middle"))
    drawing.append(text("risk: share of answers that are wrong", LEFT, TOP - 6))
    for index, (name, points) in enumerate(curves.items()):
        _line(drawing, name, points, threshold, index)
    return str(drawing.as_svg()) + "\n"


def _line(drawing: drawsvg.Drawing, name: str, points: Sequence[Point], threshold: float, index: int) -> None:
    colour = COLOURS[index % len(COLOURS)]
    flat = [number for point in points for number in (_x(point.coverage), _y(point.risk))]
    if len(points) > 1:
        drawing.append(drawsvg.Lines(*flat, stroke=colour, stroke_width=2, fill="none"))
    here = at_threshold(points, threshold)
    drawing.append(drawsvg.Circle(_x(here.coverage), _y(here.risk), 5, fill=colour))
    y = TOP + 14 + 20 * index
    drawing.append(drawsvg.Circle(LEFT + SIZE + 20, y - 4, 5, fill=colour))
    drawing.append(text(name, LEFT + SIZE + 32, y))


def _x(share: float) -> float:
    return round(LEFT + SIZE * share, 1)


def _y(share: float) -> float:
    return round(TOP + SIZE * (1 - share), 1)
