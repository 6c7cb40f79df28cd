"""Figures outlive a run, and a system that stopped half way shows what it had."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.at_scale.figures import Figures, Kept
from benchmarks.at_scale.tables import tables

TOLD = [
    {"build": 2.0, "build_cpu": 1.0, "build_peak": 300.0, "disk": 12.0},
    {"before": {"private": 10.0}, "after_open": {"private": 15.0, "peak": 20.0}, "opened": 0.5},
    {"search": {"arm": "dense", "p50": 1.5, "p95": 2.5, "cpu": 0.5, "asked": 200}},
    {"filtered": {"arm": "dense", "share": 0.01, "first": 9.0, "p50": 1.0, "p95": 2.0, "cpu": 0.7}},
    {"checked": {"arm": "dense", "share": 0.01, "allowed": 100, "back": 9.5, "foreign": 0.0, "recall": 0.95}},
    {"filtered": {"arm": "bm25", "share": 0.01, "refused": "ValueError: no | filters"}},
    {"failed": "not done within 15 min in all"},
]


def heard(size: int = 1000, system: str = "langchain") -> Figures:
    figures = Figures(system, size, 0.5)
    figures.hear([json.dumps(each) for each in TOLD], "search")
    return figures


def rows(kept: Kept) -> dict[str, tuple[tuple[str, ...], ...]]:
    return {table.name: table.rows for table in tables(kept, {"cores": "2"})}


def test_what_a_session_told_is_in_the_tables(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.keep(heard())
    shown = rows(kept)
    assert shown["scale-build"] == (("1,000", "LangChain", "0.5", "2.0", "1.0", "1,000", "300", "12", "-", "-", "-"),)
    assert shown["scale-open"][0][3:] == ("0.50", "-", "-", "+5", "-", "20")
    assert shown["scale-search"] == (("1,000", "LangChain", "dense", "1.50", "2.50", "0.50", "200", "-"),)
    assert shown["scale-filter"][0][2:7] == ("1 %", "100", "dense", "9.00", "1.00")
    assert shown["scale-filter"][0][7:] == ("2.00", "0.70", "9.5", "0.0", "0.950")
    assert [row[2] for row in shown["scale-not-run"]] == ["search", "bm25, filter of 1 %"]
    assert not any("|" in cell for row in shown["scale-not-run"] for cell in row)


def test_a_later_run_adds_rows_and_replaces_those_of_the_same_size(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    for size, system in [(10_000, "anabranch"), (1000, "langchain"), (1000, "anabranch")]:
        kept.keep(heard(size, system))
    again = Kept(tmp_path)
    again.keep(heard(1000, "langchain"))
    assert [(each.size, each.system) for each in again] == [
        (1000, "anabranch"),
        (1000, "langchain"),
        (10_000, "anabranch"),
    ]
    assert rows(Kept(tmp_path)) == rows(again)
