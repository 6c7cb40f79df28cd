"""From what sessions tell to tables, aims and a picture; what failed is said, not left out."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from math import comb
from typing import Any

import pytest

from benchmarks.answering.aims import aims
from benchmarks.answering.calls import Call, counts
from benchmarks.answering.figures import Figures, Turn, ratio
from benchmarks.answering.plot import plot_of
from benchmarks.answering.rows import FLOOR, OURS, ROWS, Row, rows_of
from benchmarks.answering.tables import tables, wall
from benchmarks.report import Table


def told(row: Row, saver: str, start: float, wall: float, kind: str = "turn", asked: int = 1) -> dict[str, Any]:
    watch = {"began": start, "ended": start + wall, "cpu": 0.01 * wall * asked, "stall": 0.01, "garbage": 0.002}
    facts = {"asked": asked, "astray": 0, "first": start + wall / 2, "steps": 12}
    return {"row": row.name, "saver": saver, "kind": kind, "number": 0, "watch": watch, **facts}


def figures(system: str, calls: int, wall: float, savers: tuple[str, ...] = ("",)) -> Figures:
    """Return a system of which each row made so many calls, one after the other, in all but 40 ms of its time."""
    lines: list[dict[str, Any]] = [{"versions": {"httpx": "0.28.1"}}]
    seen: list[Call] = []
    start = 100.0
    for row in rows_of(system):
        for saver in savers:
            lines += [told(row, saver, start, wall), told(row, saver, start, wall, "stall")]
            each = (wall - 0.04) / calls
            seen += [Call(start + 0.02 + n * each, start + 0.02 + (n + 1) * each, 100, 20) for n in range(calls)]
            if row.together and saver == savers[0]:
                kinds = ("together", "stall together")
                lines += [told(row, saver, start + 20, wall, kind, asked=32) for kind in kinds]
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


def turns(*seconds: float, first: int = 0) -> list[Turn]:
    nothing = counts([])
    return [Turn(first + n, nothing, 1, 1, wall, None, wall, 0) for n, wall in enumerate(seconds)]


def test_a_ratio_is_of_the_turns_that_both_have_taken() -> None:
    found = ratio(turns(1.0, 2.0, 9.0), turns(4.0, 3.0, first=1), wall)
    assert found is not None
    assert (found.median, found.low, found.high, found.pairs) == (1.75, 0.5, 3.0, 2)
    assert ratio(turns(1.0), turns(1.0, first=1), wall) is None


def test_one_turn_that_goes_wrong_moves_no_ratio() -> None:
    ones = turns(*[1.0] * 15)
    found = ratio(turns(*[1.0 + n / 100 for n in range(14)], 50.0), ones, wall)
    assert found is not None
    # The fourth and the twelfth of fifteen hold the median with 96.5 %.
    assert (found.low, found.median, found.high) == pytest.approx((1.03, 1.07, 1.11))
    few = ratio(turns(1.0, 2.0, 3.0, 4.0, 5.0), ones, wall)
    assert few is not None
    assert (few.low, few.high) == (1.0, 5.0)


@pytest.mark.parametrize("pairs", range(6, 40))
def test_an_interval_holds_the_median_with_95_percent_and_is_the_shortest_that_does(pairs: int) -> None:
    found = ratio(turns(*range(1, pairs + 1)), turns(*[1.0] * pairs), wall)
    assert found is not None
    below = [sum(comb(pairs, n) for n in range(end)) / 2**pairs for end in (int(found.low), int(found.low) + 1)]
    assert below[0] <= 0.025 < below[1]
    assert found.low + found.high == pairs + 1


def test_turns_that_went_astray_are_counted_and_count_for_nothing() -> None:
    row = rows_of(OURS)[0]
    gone = {"row": row.name, "saver": "memory", "astray": "abstained: True"}
    found = Figures(OURS, [gone, told(row, "memory", 0.0, 1.0), gone], []).of(row)
    assert (len(found.turns), found.astray) == (1, 2)
    nothing = Figures(OURS, [gone], []).of(row)
    assert nothing.turns == ()
    assert "abstained" in nothing.failed


def test_cpu_of_many_is_that_of_each_answer() -> None:
    row = rows_of(OURS)[0]
    many = {**told(row, "memory", 0.0, 1.0, "together", asked=32), "astray": 2}
    (found,) = Figures(OURS, [told(row, "memory", 0.0, 1.0), many], []).of(row).together
    assert (found.asked, found.answered) == (32, 30)
    assert found.cpu == pytest.approx(0.32 / 30)


def test_every_row_is_in_the_tables_once(measured: dict[str, Figures]) -> None:
    found = by_name(tables(measured, {"cores": "2"}))
    run = [row for row in ROWS if row.system in measured]
    for name in ("cost", "time", "cpu"):
        assert len(found[f"answering-{name}"].rows) == len(run)
    assert len(found["answering-stalls"].rows) == len(run) + sum(row.together for row in run)
    assert [row[0] for row in found["answering-versions"].rows] == ["Anabranch", "hand-written floor", "LlamaIndex"]
    assert [row[0] for row in found["answering-cost"].rows] == sorted(row.pipeline for row in run)
    assert len(found["answering-threads"].rows) == 2 * len(rows_of(OURS))
    assert [row[2:4] for row in found["answering-together"].rows] == [("32", "32")] * sum(row.together for row in run)
    assert [row[1] for row in found["answering-not-run"].rows] == ["LangChain", "Haystack", "Anabranch, server set-up"]


def test_aims_are_met_or_not(measured: dict[str, Figures]) -> None:
    met = {row[0]: row[3] for row in aims(measured).rows}
    assert met["C, windows of 512: at most half the calls"] == "yes"
    assert met["C, windows of 512: a third of the time"] == "yes"
    assert met["A: wall of one question"] == met["A: CPU of 32 questions at once"] == "yes"
    assert met["A: no more calls and rounds than the floor"] == "yes"
    assert met["A: 32 questions at once within 1.3x the floor"] == "yes"
    assert met["no stall over 20 ms"] == met["not model, threads in memory, under 50 ms"] == "yes"
    worse = {**measured, OURS: figures(OURS, 6, 11.0, ("memory", "SQLite"))}
    met = {row[0]: row[3] for row in aims(worse).rows}
    assert met["C, windows of 512: at most half the calls"] == "**no**"
    assert met["A: no more calls and rounds than the floor"] == "**no**"
    assert met["A: 32 questions at once within 1.3x the floor"] == "**no**"
    assert met["A: wall of one question"] == met["A: CPU of 32 questions at once"] == "**no**"


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
        {"failed": "no answer within 600 s"},
    ]
    found = by_name(tables({"langchain": Figures("langchain", lines, [])}, {}))
    assert [row[1] for row in found["answering-cost"].rows] == ["LangChain"]
    said = {row[1]: row[2] for row in found["answering-not-run"].rows}
    assert said["LangChain"] == "ValueError: a / b"
    assert said["LangChain, map-reduce by passage"] == "no answer within 600 s"
    assert "--peers" in said["Haystack"]


def test_the_picture_has_a_bar_for_each_row(measured: dict[str, Figures]) -> None:
    drawn = ET.fromstring(plot_of(measured))
    texts = [element.text or "" for element in drawn.iter() if element.tag.endswith("text")]
    assert sum("calls in" in text for text in texts) == sum(row.system in measured for row in ROWS)
    ET.fromstring(plot_of({}))
