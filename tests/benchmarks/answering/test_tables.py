"""From what sessions tell to tables, aims and a picture; what failed is said, not left out."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from benchmarks.answering.aims import aims
from benchmarks.answering.calls import Call
from benchmarks.answering.figures import Figures
from benchmarks.answering.plot import plot_of
from benchmarks.answering.rows import FLOOR, OURS, ROWS, Row, rows_of
from benchmarks.answering.tables import tables
from benchmarks.report import Table


def told(row: Row, saver: str, start: float, wall: float, *, stall: float = 0.01) -> dict[str, Any]:
    watch = {"began": start, "ended": start + wall, "cpu": 0.03, "stall": stall, "garbage": 0.002}
    return {"row": row.name, "saver": saver, "turn": watch, "first": start + wall / 2, "steps": 12}


def figures(system: str, calls: int, wall: float, savers: tuple[str, ...] = ("",)) -> Figures:
    """Return a system of which each row made so many calls, one after the other, in all but 40 ms of its time."""
    lines: list[dict[str, Any]] = [{"versions": {"httpx": "0.28.1"}}]
    seen: list[Call] = []
    start = 100.0
    for row in rows_of(system):
        for saver in savers:
            lines.append(told(row, saver, start, wall))
            each = (wall - 0.04) / calls
            seen += [Call(start + 0.02 + n * each, start + 0.02 + (n + 1) * each, 100, 20) for n in range(calls)]
            if row.together and saver == savers[0]:
                watch = {"began": start + 20, "ended": start + 20 + wall, "cpu": 0.5, "stall": 0.01, "garbage": 0.0}
                lines.append({"row": row.name, "saver": saver, "together": watch, "asked": 32, "answered": 32})
            lines.append({"row": row.name, "saver": saver, "idle": [0.004, 0.005, 0.006]})
            start += 50
    return Figures(system, lines, seen)


@pytest.fixture
def measured() -> dict[str, Figures]:
    return {
        OURS: figures(OURS, 4, 3.0, ("memory", "SQLite")),
        FLOOR: figures(FLOOR, 4, 2.5),
        "llama_index": figures("llama_index", 10, 10.0),
    }


def by_name(found: list[Table]) -> dict[str, Table]:
    return {table.name: table for table in found}


def test_calls_belong_to_the_turn_in_which_they_began(measured: dict[str, Figures]) -> None:
    turn = measured["llama_index"].of(rows_of("llama_index")[2]).turn
    assert (turn.counts.calls, turn.counts.rounds, turn.counts.prompt) == (10, 10, 1000)
    assert turn.rest == pytest.approx(0.04)
    assert turn.first == pytest.approx(5.0)


def test_every_row_is_in_the_tables_once(measured: dict[str, Figures]) -> None:
    found = by_name(tables(measured, {"cores": "2"}))
    run = [row for row in ROWS if row.system in measured]
    assert len(found["answering-cost"].rows) == len(found["answering-time"].rows) == len(run)
    assert [row[0] for row in found["answering-cost"].rows] == sorted(row.pipeline for row in run)
    assert len(found["answering-threads"].rows) == 2 * len(rows_of(OURS))
    assert [row[2:4] for row in found["answering-together"].rows] == [("32", "32")] * sum(row.together for row in run)
    assert [row[1] for row in found["answering-not-run"].rows] == ["LangChain", "Haystack", "Anabranch, server set-up"]


def test_aims_are_met_or_not(measured: dict[str, Figures]) -> None:
    met = {row[0]: row[3] for row in aims(measured).rows}
    assert met["C, windows of 512: at most half the calls"] == "yes"
    assert met["C, windows of 512: a third of the time"] == "yes"
    assert met["A: no more calls and rounds than the floor"] == "yes"
    assert met["A: 32 questions at once within 1.3x the floor"] == "yes"
    assert met["no stall over 20 ms"] == met["not model, threads in memory, under 50 ms"] == "yes"
    worse = {**measured, OURS: figures(OURS, 6, 3.5, ("memory", "SQLite"))}
    met = {row[0]: row[3] for row in aims(worse).rows}
    assert met["C, windows of 512: at most half the calls"] == "**no**"
    assert met["A: no more calls and rounds than the floor"] == "**no**"
    assert met["A: 32 questions at once within 1.3x the floor"] == "**no**"


def test_without_ours_there_are_no_aims(measured: dict[str, Figures]) -> None:
    assert aims({"llama_index": measured["llama_index"]}).rows == ()
    assert [row[0] for row in aims({OURS: measured[OURS]}).rows] == [
        "no stall over 20 ms",
        "not model, threads in memory, under 50 ms",
        "not model, threads in SQLite, under 100 ms",
    ]


def test_what_failed_is_said_with_its_reason() -> None:
    rows = rows_of("langchain")
    lines = [
        told(rows[0], "", 10, 1.0),
        {"row": rows[1].name, "saver": "", "failed": "ValueError: a | b"},
        {"failed": "not done within 4 min"},
    ]
    found = by_name(tables({"langchain": Figures("langchain", lines, [])}, {}))
    assert [row[1] for row in found["answering-cost"].rows] == ["LangChain"]
    said = {row[1]: row[2] for row in found["answering-not-run"].rows}
    assert said["LangChain"] == "ValueError: a / b"
    assert said["LangChain, map-reduce by passage"] == "not done within 4 min"
    assert "--peers" in said["Haystack"]


def test_the_picture_has_a_bar_for_each_row(measured: dict[str, Figures]) -> None:
    drawn = ET.fromstring(plot_of(measured))
    texts = [element.text or "" for element in drawn.iter() if element.tag.endswith("text")]
    assert sum("calls in" in text for text in texts) == sum(row.system in measured for row in ROWS)
    ET.fromstring(plot_of({}))
