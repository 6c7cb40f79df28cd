"""Wall time of each row as a bar: the model's time, what is left, and where the first token came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import drawsvg

from benchmarks.answering.figures import Figures, Measured
from benchmarks.answering.rows import OURS, PIPELINES, ROWS
from benchmarks.answering.tables import title
from benchmarks.drawing import GREY, GRID, RED, SKY, drawing_of, text_at

MODEL, MODEL_OURS, REST, FIRST = GREY, SKY, RED, "#000000"
LEFT, WIDTH, RIGHT = 400, 420, 150
ROW, HEAD, GAP, FOOT = 18, 22, 10, 46


def plot_of(figures: Mapping[str, Figures]) -> str:
    """Return an SVG: one panel per pipeline, one bar per system."""
    found = [figures[row.system].of(row) for row in ROWS if row.system in figures]
    panels = {letter: [m for m in found if m.row.pipeline == letter and m.turns] for letter in PIPELINES}
    panels = {letter: rows for letter, rows in panels.items() if rows}
    longest = max((m.turn.wall for rows in panels.values() for m in rows), default=1.0)
    height = sum(HEAD + ROW * len(rows) + GAP for rows in panels.values()) + FOOT
    drawing = drawing_of(LEFT + WIDTH + RIGHT, height)
    top = 0
    for letter, rows in panels.items():
        _panel(drawing, f"{letter}: {PIPELINES[letter]}", rows, WIDTH / longest, top)
        top += HEAD + ROW * len(rows) + GAP
    _legend(drawing, longest, top)
    return str(drawing.as_svg()) + "\n"


def _panel(drawing: drawsvg.Drawing, heading: str, rows: Sequence[Measured], scale: float, top: float) -> None:
    drawing.append(text_at(heading, 8, top + 15, weight="bold"))
    for place, measured in enumerate(rows):
        turn, y = measured.turn, top + HEAD + ROW * place
        ours = measured.row.system == OURS
        model = turn.counts.busy * scale
        drawing.append(
            text_at(title(measured.row), LEFT - 8, y + 12, anchor="end", weight="bold" if ours else "normal")
        )
        drawing.append(_bar(LEFT, y, model, MODEL_OURS if ours else MODEL))
        drawing.append(_bar(LEFT + model, y, turn.wall * scale - model, REST))
        if turn.first is not None:
            x = LEFT + turn.first * scale
            drawing.append(drawsvg.Line(x, y + 1, x, y + ROW - 3, stroke=FIRST, stroke_width=2))
        calls = f"{turn.wall:.1f} s, {turn.counts.calls} calls in {turn.counts.rounds}"
        drawing.append(text_at(calls, LEFT + turn.wall * scale + 6, y + 12))


def _legend(drawing: drawsvg.Drawing, longest: float, top: float) -> None:
    step = 1 if longest < 6 else 2
    for second in range(0, int(longest) + 1, step):
        x = LEFT + second * WIDTH / longest
        drawing.append(drawsvg.Line(x, 0, x, top, stroke=GRID, stroke_width=0.5))
        drawing.append(text_at(f"{second} s", x, top + 12, anchor="middle"))
    x = 8.0
    for colour, words in ((MODEL, "the model's time"), (MODEL_OURS, "the same, Anabranch"), (REST, "not the model's")):
        drawing.append(_bar(x, top + 24, 14, colour))
        drawing.append(text_at(words, x + 20, top + 36))
        x += 180
    drawing.append(drawsvg.Line(x, top + 25, x, top + 39, stroke=FIRST, stroke_width=2))
    drawing.append(text_at("first token", x + 8, top + 36))


def _bar(x: float, y: float, width: float, colour: str) -> drawsvg.DrawingElement:
    return drawsvg.Rectangle(x, y + 2, max(width, 0.0), ROW - 5, fill=colour)
