"""A report as a picture: a dot per configuration and collection, with the confidence interval of its mean."""

from __future__ import annotations

import math

import drawsvg

from anabranch.evaluation.score_report import CollectionReport, Report
from anabranch.text.normalization import squeeze

# Okabe and Ito's colours can be told apart with every kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

LEFT, WIDTH, RIGHT = 170, 430, 60
ROW, HEAD, GAP, FOOT = 17, 24, 12, 40
NAME_CHARS = 26
GRID = "#dddddd"
INK = "#222222"


def plot_of(report: Report) -> str:
    """Return an SVG of the first metric: one panel per collection, the baseline's mean as a dashed line."""
    panels = [HEAD + ROW * len(each.scored) for each in report.collections]
    height = sum(panels) + GAP * len(panels) + FOOT
    drawing = drawsvg.Drawing(LEFT + WIDTH + RIGHT, height, font_family="sans-serif")
    drawing.append(drawsvg.Rectangle(0, 0, LEFT + WIDTH + RIGHT, height, fill="white"))
    axis = _Axis(report)
    top = 0
    for each, size in zip(report.collections, panels, strict=True):
        _panel(drawing, report, each, axis, top)
        top += size + GAP
    for tick in axis.ticks:
        drawing.append(text(f"{tick:.1f}", axis.x(tick), top + 10, anchor="middle"))
    drawing.append(text(report.table.metrics[0], LEFT + WIDTH / 2, top + 28, anchor="middle"))
    return str(drawing.as_svg()) + "\n"


class _Axis:
    """From scores to pixels; whole tenths, so that the reader can count."""

    def __init__(self, report: Report) -> None:
        bounds = [bound for each in report.collections for s in each.scored.values() for bound in (s.low, s.high)]
        self._low = math.floor(min(bounds, default=0.0) * 10)
        self._high = max(math.ceil(max(bounds, default=1.0) * 10), self._low + 1)

    @property
    def ticks(self) -> list[float]:
        return [tenth / 10 for tenth in range(self._low, self._high + 1)]

    def x(self, score: float) -> float:
        return round(LEFT + WIDTH * (score * 10 - self._low) / (self._high - self._low), 1)


def _panel(drawing: drawsvg.Drawing, report: Report, each: CollectionReport, axis: _Axis, top: int) -> None:
    bottom = top + HEAD + ROW * len(each.scored)
    drawing.append(text(_short(each.name), LEFT, top + 16, weight="bold"))
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
        drawing.append(text(_short(name), LEFT - 8, y + 4, anchor="end"))
        line = drawsvg.Line(axis.x(scored.low), y, axis.x(scored.high), y, stroke=colour, stroke_width=2)
        drawing.append(line)
        drawing.append(drawsvg.Circle(axis.x(scored.mean(metric)), y, 4.5, fill=colour))
        drawing.append(text(f"{scored.mean(metric):.3f}", LEFT + WIDTH + 8, y + 4))


def text(said: str, x: float, y: float, *, anchor: str = "start", weight: str = "normal") -> drawsvg.DrawingElement:
    """Return a label in the plots' size and ink."""
    return drawsvg.Text(said, 12, x, y, fill=INK, text_anchor=anchor, font_weight=weight)


def _short(name: str) -> str:
    name = squeeze(name)
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"
