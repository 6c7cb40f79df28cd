from __future__ import annotations

from lxml import etree

from anabranch.evaluation.answer_quality import risk_coverage
from anabranch.evaluation.plots import plot_of, plot_of_curves
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


CURVE_PLOT_SVG = "{http://www.w3.org/2000/svg}"
CURVES = {
    "good": risk_coverage([(0.9, True), (0.6, True), (0.2, False)]),
    "bad": risk_coverage([(0.9, False), (0.6, True), (0.2, True)]),
}


def test_a_line_and_a_dot_per_collection_inside_the_picture() -> None:
    root = etree.fromstring(plot_of_curves(CURVES, 0.5).encode())
    width, height = float(root.get("width")), float(root.get("height"))
    dots = root.findall(f".//{CURVE_PLOT_SVG}circle")
    assert len(dots) == 4  # one on each curve, one in the legend
    assert all(0 <= float(dot.get("cx")) <= width and 0 <= float(dot.get("cy")) <= height for dot in dots)
    good, bad = dots[0], dots[2]
    assert good.get("cx") == bad.get("cx")  # the same coverage
    assert float(good.get("cy")) > float(bad.get("cy"))  # less risk lies lower
    assert good.get("fill") != bad.get("fill")
    assert [text.text for text in root.findall(f".//{CURVE_PLOT_SVG}text")][-2:] == ["good", "bad"]


def test_no_curve_and_a_curve_of_one_point_are_drawn() -> None:
    assert plot_of_curves({}, 0.5).startswith("<?xml")
    root = etree.fromstring(plot_of_curves({"one": risk_coverage([(0.5, True)])}, 0.9).encode())
    assert len(root.findall(f".//{CURVE_PLOT_SVG}circle")) == 2


def test_the_same_curves_give_the_same_picture() -> None:
    assert plot_of_curves(CURVES, 0.5) == plot_of_curves(CURVES, 0.5)
