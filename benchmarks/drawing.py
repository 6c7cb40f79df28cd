"""What the drawings of the pages share: colours, and words in them."""

from __future__ import annotations

import drawsvg

# Okabe and Ito's colours can be told apart with every kind of colour vision.
SKY, BLUE, ORANGE, GREEN, RED = "#56B4E9", "#0072B2", "#E69F00", "#009E73", "#D55E00"
INK, GRID, GREY = "#222222", "#dddddd", "#BBBBBB"


def drawing_of(width: float, height: float) -> drawsvg.Drawing:
    """Return a white drawing."""
    drawing = drawsvg.Drawing(width, height, font_family="sans-serif")
    drawing.append(drawsvg.Rectangle(0, 0, width, height, fill="white"))
    return drawing


def text_at(text: str, x: float, y: float, *, anchor: str = "start", weight: str = "normal") -> drawsvg.DrawingElement:
    """Return words at a place."""
    return drawsvg.Text(text, 12, x, y, fill=INK, text_anchor=anchor, font_weight=weight)
