"""The benchmarks run, and what they count is what the routes are documented to cost."""

from __future__ import annotations

import re

import pytest

from benchmarks.__main__ import README, main

pytestmark = [pytest.mark.loopback, pytest.mark.slow]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    page = tmp_path_factory.mktemp("bench") / "page.md"
    page.write_text(README.read_text("utf-8"), "utf-8")
    assert main(["--quick", "--write", str(page)]) == 0
    return page.read_text("utf-8")


def rows(page: str, name: str) -> list[list[str]]:
    """Return the cells of a table, without its heading."""
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", page, flags=re.DOTALL)
    assert found
    lines = [line for line in found[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_table_is_written(page: str) -> None:
    assert "| size of the run | quick" in page
    assert [row[2] for row in rows(page, "ingest")][1] == "0"
    assert {row[0] for row in rows(page, "search")} == {"bm25", "dense"}
    assert len(rows(page, "together")) == 2
    assert len(rows(page, "time")) == len(rows(page, "cost")) == 6


def test_calls_and_rounds_are_those_of_the_route(page: str) -> None:
    cost = {row[0]: [int(cell) for cell in row[1:5]] for row in rows(page, "cost")}
    assert cost["compose (no model)"][1:3] == [0, 0]
    assert cost["create"][1:3] == [1, 1]
    assert cost["rewrite, create"][1:3] == [2, 2]
    assert cost["LLM rerank, create"][2] == 2
    windows, calls, rounds, _ = cost["refine"]
    assert windows >= 4
    assert calls == rounds == windows
    windows, calls, rounds, _ = cost["map-reduce, fan-in 4"]
    assert 6 <= windows < calls
    assert rounds == 3
