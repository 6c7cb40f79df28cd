from __future__ import annotations

from lxml import etree

from anabranch.evaluation.plots import plot_of
from tests.evaluation.reports import report

SVG = "{http://www.w3.org/2000/svg}"


def test_a_dot_per_configuration_inside_the_picture() -> None:
    root = etree.fromstring(plot_of(report()).encode())
    width, height = float(root.get("width")), float(root.get("height"))
    dots = root.findall(f".//{SVG}circle")
    assert len(dots) == 4
    assert all(0 < float(dot.get("cx")) < width and 0 < float(dot.get("cy")) < height for dot in dots)
    rows = [float(dot.get("cy")) for dot in dots]
    assert rows == sorted(rows)
    assert float(dots[1].get("cx")) > float(dots[0].get("cx"))
    assert dots[0].get("fill") == dots[2].get("fill") != dots[1].get("fill")
    written = [text.text for text in root.findall(f".//{SVG}text")]
    assert written[:5] == ["here", "old", "0.631", "new", "1.000"]
    assert written[-1] == "nDCG@10"


def test_the_same_scores_give_the_same_picture() -> None:
    assert plot_of(report()) == plot_of(report())
