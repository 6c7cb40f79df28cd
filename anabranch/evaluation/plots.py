"""Reports as pictures: means with their confidence intervals, and risk against coverage."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import drawsvg

from anabranch.evaluation.answer_quality import Point, at_threshold
from anabranch.evaluation.score_report import CollectionReport, ScoreReport
from anabranch.text.normalization import squeeze

# Okabe and Ito's colours can be told apart with every kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

LEFT, WIDTH, RIGHT = 170, 430, 60
ROW, HEAD, GAP, FOOT = 17, 24, 12, 40
"""Pixels of the plot of means."""

MARGIN, TOP, SIZE, LEGEND, BELOW = 60, 20, 360, 200, 50
"""Pixels of the plot of risk against coverage."""

NAME_CHARS = 26
GRID = "#dddddd"
INK = "#222222"


def plot_of(report: ScoreReport) -> str:
    """Return an SVG of the first metric: one panel per collection, the baseline's mean as a dashed line."""
    panels = [HEAD + ROW * len(each.scored) for each in report.collections]
    height = sum(panels) + GAP * len(panels) + FOOT
    drawing = _canvas(LEFT + WIDTH + RIGHT, height)
    axis = _Axis(report)
    top = 0
    for each, size in zip(report.collections, panels, strict=True):
        _panel(drawing, report, each, axis, top)
        top += size + GAP
    for tick in axis.ticks:
        drawing.append(_text(f"{tick:.1f}", axis.x(tick), top + 10, anchor="middle"))
    drawing.append(_text(report.table.metrics[0], LEFT + WIDTH / 2, top + 28, anchor="middle"))
    return str(drawing.as_svg()) + "\n"


class _Axis:
    """From scores to pixels; whole tenths, so that the reader can count."""

    def __init__(self, report: ScoreReport) -> None:
        bounds = [bound for each in report.collections for s in each.scored.values() for bound in (s.low, s.high)]
        self._low = math.floor(min(bounds, default=0.0) * 10)
        self._high = max(math.ceil(max(bounds, default=1.0) * 10), self._low + 1)

    @property
    def ticks(self) -> list[float]:
        return [tenth / 10 for tenth in range(self._low, self._high + 1)]

    def x(self, score: float) -> float:
        return round(LEFT + WIDTH * (score * 10 - self._low) / (self._high - self._low), 1)


def _panel(drawing: drawsvg.Drawing, report: ScoreReport, each: CollectionReport, axis: _Axis, top: int) -> None:
    bottom = top + HEAD + ROW * len(each.scored)
    drawing.append(_text(_short(each.name), LEFT, top + 16, weight="bold"))
    for tick in axis.ticks:
        drawing.append(drawsvg.Line(axis.x(tick), top + HEAD, axis.x(tick), bottom, stroke=GRID))
    metric, baseline = report.table.metrics[0], report.table.baseline
    if baseline is not None and baseline in each.scored:
        x = axis.x(each.scored[baseline].mean(metric))
        drawing.append(drawsvg.Line(x, top + HEAD, x, bottom, stroke=INK, stroke_dasharray="3 3"))
    order = list(report.table.configurations)
    for row, (name, scored) in enumerate(each.scored.items()):
        y = top + HEAD + ROW * row + ROW / 2
        colour = COLOURS[order.index(name) % len(COLOURS)]
        drawing.append(_text(_short(name), LEFT - 8, y + 4, anchor="end"))
        line = drawsvg.Line(axis.x(scored.low), y, axis.x(scored.high), y, stroke=colour, stroke_width=2)
        drawing.append(line)
        drawing.append(drawsvg.Circle(axis.x(scored.mean(metric)), y, 4.5, fill=colour))
        drawing.append(_text(f"{scored.mean(metric):.3f}", LEFT + WIDTH + 8, y + 4))


def _canvas(width: int, height: int) -> drawsvg.Drawing:
    drawing = drawsvg.Drawing(width, height, font_family="sans-serif")
    drawing.append(drawsvg.Rectangle(0, 0, width, height, fill="white"))
    return drawing


def _text(said: str, x: float, y: float, *, anchor: str = "start", weight: str = "normal") -> drawsvg.DrawingElement:
    return drawsvg.Text(said, 12, x, y, fill=INK, text_anchor=anchor, font_weight=weight)


def _short(name: str) -> str:
    name = squeeze(name)
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"


def plot_of_curves(curves: Mapping[str, Sequence[Point]], threshold: float) -> str:
    """Return an SVG.

    Args:
        curves: By collection, from the surest questions to all.
        threshold: Confidence from which a question is answered.
    """
    drawing = _canvas(MARGIN + SIZE + LEGEND, TOP + SIZE + BELOW)
    for tenth in range(0, 11, 2):
        share = tenth / 10
        drawing.append(drawsvg.Line(_x(share), _y(0), _x(share), _y(1), stroke=GRID))
        drawing.append(drawsvg.Line(_x(0), _y(share), _x(1), _y(share), stroke=GRID))
        drawing.append(_text(f"{share:.1f}", _x(share), _y(0) + 16, anchor="middle"))
        drawing.append(_text(f"{share:.1f}", _x(0) - 8, _y(share) + 4, anchor="end"))
    drawing.append(_text("coverage: share of questions answered", _x(0.5), _y(0) + 36, anchor="middle"))
    drawing.append(_text("risk: share of answers that are wrong", MARGIN, TOP - 6))
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
    drawing.append(drawsvg.Circle(MARGIN + SIZE + 20, y - 4, 5, fill=colour))
    drawing.append(_text(name, MARGIN + SIZE + 32, y))


def _x(share: float) -> float:
    return round(MARGIN + SIZE * share, 1)


def _y(share: float) -> float:
    return round(TOP + SIZE * (1 - share), 1)
