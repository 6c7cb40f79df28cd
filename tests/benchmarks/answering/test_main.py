"""The command runs at a small size, beside the peer that the development environment has."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from anabranch.agent.nodes.settings import Context
from benchmarks.answering.__main__ import PAGE, main
from benchmarks.answering.rows import FLOOR, NAMES, OURS, ROWS, SERVER, Row, rows_of
from benchmarks.answering.running import Terms, measured

pytestmark = pytest.mark.slow

PIPELINES = "AC"
OF_EACH_KIND = (OURS, "langchain")
"""One that runs in this environment, and one that runs in the peers'."""

HERE = (OURS, SERVER, FLOOR, "langchain")


@pytest.fixture(
    scope="module", params=[pytest.param(each, marks=pytest.mark.exhaustive) for each in (OF_EACH_KIND, HERE)]
)
def run(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Systems that are run."""
    return tuple(request.param)


@pytest.fixture(scope="module")
def page(run: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = tmp_path_factory.mktemp("answering") / "page.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    peers = ["--peers", sys.executable, "--systems", ",".join(run)]
    # Refining and one call: the other pipelines differ from these in settings alone.
    assert main(["--quick", "--pipelines", PIPELINES, *peers, "--write", str(page)]) == 0
    return page


def asked(*systems: str) -> list[Row]:
    """Return the rows that are run."""
    return [row for row in ROWS if row.system in systems and row.pipeline in PIPELINES]


def rows(page: Path, name: str) -> list[list[str]]:
    """Return the cells of a table, without its heading."""
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", page.read_text("utf-8"), flags=re.DOTALL)
    assert found
    lines = [line for line in found[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_everybody_has_run(page: Path, run: tuple[str, ...]) -> None:
    others = [name for system, name in NAMES.items() if system not in run]
    assert sorted(row[1] for row in rows(page, "answering-not-run")) == sorted(others)
    assert len(rows(page, "answering-threads")) == 2 * len(asked(*({OURS, SERVER} & {*run})))
    assert [row[2:4] for row in rows(page, "answering-together")] == [["2", "2"]] * sum(
        row.together for row in asked(*run)
    )
    assert page.with_suffix(".svg").read_text("utf-8").startswith("<?xml")


def test_calls_and_rounds_are_those_of_the_pipeline(page: Path, run: tuple[str, ...]) -> None:
    cost = {(row[0], row[1]): [int(cell.replace(",", "")) for cell in row[2:5]] for row in rows(page, "answering-cost")}
    assert cost["C", "LangChain"] == [11, 11, 1]
    assert cost["A", "Anabranch"][:2] == [2, 2]
    if FLOOR in run:
        assert cost["A", "hand-written floor"][:2] == [2, 2]
        assert cost["A", "Anabranch, server set-up"] == cost["A", "Anabranch"]
    assert cost["C", "Anabranch, default window"][:2] == [2, 2]
    calls, rounds, at_once = cost["C", "Anabranch, windows of 512"]
    assert 3 <= calls == rounds <= 5
    assert at_once == 1


def test_settings_of_every_row_are_settings() -> None:
    for row in (*rows_of(OURS), *rows_of(SERVER)):
        Context(**row.settings)
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_a_system_that_cannot_start_is_told(tmp_path: Path) -> None:
    terms = Terms(repeats=1, warm=False, together=1, rounds=1, latency=0.0, per_token=0.0, cap=900)
    found = measured("haystack", sys.executable, tmp_path, tmp_path, terms, lambda _: None)
    assert "facts.json" in found.of(rows_of("haystack")[0]).failed
    missing = measured("haystack", str(tmp_path / "python"), tmp_path, tmp_path, terms, lambda _: None)
    assert "No such file" in missing.of(rows_of("haystack")[0]).failed
