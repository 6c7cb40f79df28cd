"""The command runs at a small size, beside the peer that the development environment has."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from benchmarks.answering import running
from benchmarks.answering.__main__ import PAGE, main
from benchmarks.answering.figures import Figures
from benchmarks.answering.rows import FLOOR, NAMES, OURS, PEER, ROWS, SERVER, Row, rows_of
from benchmarks.answering.running import Questions, Session, Terms, measured, stages

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


async def test_a_system_that_cannot_start_is_told(tmp_path: Path) -> None:
    terms = Terms(
        turns=1, stalls=1, warm=False, together=1, rounds=1, latency=0.0, per_token=0.0, cap=900, pipelines=""
    )
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "queries.json").write_text("[]")
    interpreters = {"haystack": sys.executable, "langchain": str(tmp_path / "python")}
    found = await measured(interpreters, tmp_path, tmp_path, terms, lambda _: None)
    assert "facts.json" in found["haystack"].of(rows_of("haystack")[0]).failed
    assert "No such file" in found["langchain"].of(rows_of("langchain")[0]).failed


async def test_what_was_measured_is_kept_when_the_questions_run_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask_all(sessions: object, questions: Questions, terms: object, say: object) -> None:
        questions.take(1)

    monkeypatch.setattr(running, "stages", ask_all)
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "queries.json").write_text("[]")
    terms = Terms(turns=1, stalls=1, warm=False, together=1, rounds=1, latency=0, per_token=0, cap=9, pipelines="A")
    said: list[str] = []
    assert await measured({}, tmp_path, tmp_path, terms, said.append) == {}
    assert "There are too few questions" in said[-1]


class Turns(Session):
    """A system that answers at once, every third question in another way than its row says."""

    def __init__(self, system: str, heard: list[tuple[str, dict[str, Any]]]) -> None:
        super().__init__(system)
        self.heard = heard

    async def order(self, cap: float, **order: Any) -> dict[str, Any]:
        self.heard.append((self.system, order))
        if order["do"] != "turn":
            return {"idle": []}
        watch = {"began": 1.0, "ended": 2.0, "cpu": 0.1, "stall": 0.0, "garbage": 0.0}
        answers = [{"first": None, "steps": 6, "astray": "other" * (int(q) % 3 == 0)} for q in order["questions"]]
        return {"watch": watch, "answers": answers}


async def test_systems_take_turns_and_no_question_is_asked_twice_of_one() -> None:
    heard: list[tuple[str, dict[str, Any]]] = []
    terms = Terms(turns=4, stalls=2, warm=True, together=5, rounds=2, latency=0, per_token=0, cap=9, pipelines="AB")
    sessions = [Turns(system, heard) for system in (OURS, PEER)]
    await stages(sessions, Questions([str(n) for n in range(500)]), terms, lambda _: None)
    asked = [(system, order) for system, order in heard if order["do"] == "turn"]
    for system in (OURS, PEER):
        questions = [question for name, order in asked if name == system for question in order["questions"]]
        assert len(questions) == len(set(questions))
    # Nobody else is asked before everybody had the question of the turn, and another one is first in the next turn.
    theirs = {order["questions"][0]: place for place, (name, order) in enumerate(asked) if name == PEER}
    ours = {
        order["questions"][0]: place
        for place, (name, order) in enumerate(asked)
        if name == OURS and order["saver"] == "memory" and order["questions"][0] in theirs
    }
    first = [ours[question] < theirs[question] for question in ours]
    assert any(first)
    assert not all(first)
    for row in (*rows_of(OURS)[:2], rows_of(PEER)[0]):
        told = next(each for each in sessions if each.system == row.system).told
        found = Figures(row.system, told, []).of(row)
        assert len(found.turns) >= 4
        assert found.astray
        assert found.stalls is not None
        assert found.stalls.turns >= 2
        assert len(found.together) == 2 * row.together
    assert len(Figures(OURS, sessions[0].told, []).of(rows_of(OURS)[0], "SQLite").turns) == 2
