from __future__ import annotations

import json
from pathlib import Path

import pytest

from plugins.evaluation.tests.made import ASKED, make_collection, write_lines
from tests.cli.conftest import Run, rows_of

ANSWERS = {"q1": "hold hands", "q2": "270 degrees", "q3": "where the flowers are", "q4": "earthworms"}
PLANTS = {
    "oaks": "Oaks grow from acorns, which jays bury and forget.",
    "ferns": "Ferns have no flowers; they spread by spores under their leaves.",
}
TABLE = """\
kind: answers
title: Answers about animals and plants
collections: [animals, plants, stones]
cases:
  - {collection: animals, measure: contains, expected: 1.0}
  - {collection: stones, measure: contains, expected: 1.0}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    animals = make_collection(folder / "animals")
    rows = [{"_id": key, "text": text, "answer": ANSWERS[key]} for key, text in ASKED.items()]
    rows.append({"_id": "u1", "text": "Who won the football cup in 1954?", "unanswerable": True})
    write_lines(animals / "queries.jsonl", rows)
    make_collection(folder / "plants", PLANTS, {"p1": "What do oaks grow from?"}, [("p1", "oaks", 1)])
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "answers.yaml"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_answers_are_measured_and_written(run: Run, data: Path, cache: Path, table: Path, tmp_path: Path) -> None:
    report, every = tmp_path / "r.md", tmp_path / "q.jsonl"
    result = run("eval", table, "--data", data, "--cache", cache, "--report", report, "--per-query", every)
    assert result.exit_code == 0, result.stderr
    for title in ("Is the answer in what is shown?", "Is it said where the evidence is weak?"):
        assert title in result.stdout
        assert f"## {title}" in report.read_text()
    assert "| animals | 4 | 1.000 |" in report.read_text()
    asked = [row for row in rows_of(every) if row["collection"] == "animals"]
    kinds = {row["question"]: row["kind"] for row in asked}
    assert kinds == {**dict.fromkeys(ASKED, "own"), "u1": "marked", "plants/p1": "elsewhere"}
    # Every one is shown passages, and those that have no answer are told that these match weakly.
    assert {row["question"] for row in asked if row["written"]["is_weak"]} == {"u1", "plants/p1"}
    assert all("No chat model" not in row["written"]["text"] for row in asked)
    assert all(row["written"]["best"] in row["written"]["passages"] for row in asked)
    assert all(row["written"]["confidence"] > 0 for row in asked)


def test_drift_fails_until_it_is_accepted(run: Run, data: Path, cache: Path, table: Path) -> None:
    table.write_text(TABLE.replace("expected: 1.0}", "expected: 0.5}", 1))
    command = ("eval", table, "--data", data, "--cache", cache, "--json")
    result = run(*command)
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert [check["verdict"] for check in found["checks"]] == ["drift", "not here"]
    assert found["collections"]["animals"]["contains"] == 1.0
    assert found["absent"] == ["stones"]
    assert run(*command, "--accept").exit_code == 0
    assert "animals, measure: contains, expected: 1.0000}" in table.read_text()
    assert run(*command).exit_code == 0
    assert run(*command, "--strict").exit_code == 1


def test_evidence_by_pattern_in_one_command(run: Run, documents: Path, cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "asked"
    folder.mkdir()
    for file in documents.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    rows = [
        {"id": "a", "doc": "bees", "text": "Who decoded the waggle dance?", "evidence_regex": "Karl von Frisch"},
        {"id": "b", "doc": "cellar", "text": "Where is the spare key?", "evidence_regex": "behind\\s+the\\s+blue"},
    ]
    write_lines(folder / "questions.jsonl", rows)
    result = run("eval", folder, "--cache", cache, "--json", "--only", "default")
    assert result.exit_code == 0, result.stderr
    (collection,) = json.loads(result.stdout)["collections"]
    assert collection["scores"]["default"]["Success@3"] == 1.0
    assert (collection["documents"], collection["queries"]) == (3, 2)


@pytest.mark.parametrize(
    "arguments", [["--set", "model=openai:x", "--write"], ["--data", "nowhere"], ["--write"], ["--only", "nobody"]]
)
def test_the_users_mistakes(run: Run, data: Path, cache: Path, table: Path, arguments: list[str]) -> None:
    given = arguments if "--data" in arguments else ["--data", str(data), *arguments]
    result = run("eval", table, *given, "--cache", cache)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert table.read_text() == TABLE
