"""The drawing has a point for each figure, where its logarithm says."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.at_scale.curves import COLOURS, SIDE, TOP, curves_of
from benchmarks.at_scale.figures import Figures


def figures(size: int, system: str, cpu: float) -> Figures:
    facts = {"build_cpu": cpu, "after_search": {"peak": 500.0}}
    return Figures(system, size, 1.0, facts, [{"arm": "hybrid", "cpu": cpu}])


def points(svg: str, system: str) -> list[tuple[float, float]]:
    found = [each for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("circle")]
    return [
        (float(each.attrib["cx"]), float(each.attrib["cy"])) for each in found if each.get("fill") == COLOURS[system]
    ]


def test_a_figure_stands_where_its_logarithm_says() -> None:
    drawn = points(curves_of([figures(1_000, "anabranch", 1.0), figures(100_000, "anabranch", 100.0)]), "anabranch")
    (left, low), (right, high) = drawn[:2]
    assert right - left == pytest.approx(SIDE)
    assert low - high == pytest.approx(SIDE)
    assert high == pytest.approx(TOP)
    assert len(drawn) == 6  # in three panels


def test_what_was_not_measured_is_not_drawn() -> None:
    failed = Figures("langchain", 1_000, 1.0, failed={"build": "no room"})
    svg = curves_of([figures(1_000, "anabranch", 2.0), failed])
    assert len(points(svg, "anabranch")) == 3
    assert points(svg, "langchain") == []
