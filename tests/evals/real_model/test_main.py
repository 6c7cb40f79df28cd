"""The command asks each question on each route, keeps what it has, and says what is wrong with what it was given."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from evals.real_model.__main__ import PAGE, main
from evals.real_model.serving import cpu_seconds
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub

QUESTIONS = [
    {"id": "q1", "doc": "weir", "text": "When was the weir at Halden rebuilt?", "answer": "1911"},
    {"id": "q2", "doc": "weir", "text": "Who won the football match in Rome?", "unanswerable": True},
    {"id": "q3", "doc": "mill", "text": "How many wheels had the mill of Brook?", "answer": "four"},
]
TEXT = (
    "The weir at Halden was rebuilt in 1911 by its engineer, because the flood of the year before had carried it away."
)


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    questions, document = tmp_path / "questions.jsonl", tmp_path / "weir.txt"
    questions.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    document.write_text(TEXT)
    return [str(questions), str(document)]


def rows(page: str, name: str) -> list[list[str]]:
    """Return the cells of a table, without its heading."""
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", page, flags=re.DOTALL)
    assert found
    lines = [line for line in found[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.loopback
def test_each_route_has_its_row_and_a_second_run_asks_nothing(given: list[str], tmp_path: Path) -> None:
    page, kept = tmp_path / "page.md", tmp_path / "kept.jsonl"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    with OpenAIStub(model()) as stub:
        options = ["--base-url", stub.base_url, "--kept", str(kept), "--write", str(page)]
        assert main([*given, *options]) == 0
        calls = len(stub.calls)
        assert main([*given, *options]) == 0
        assert len(stub.calls) == calls > 0
    before = page.read_text("utf-8")
    assert main([*given, "--show", "--kept", str(kept), "--write", str(page)]) == 0
    assert page.read_text("utf-8") == before
    found = {row[0]: row for row in rows(page.read_text("utf-8"), "real-model-routes")}
    assert set(found) == {"compose", "stuff", "refine", "map_reduce"}
    for row in found.values():
        assert row[1:4] == ["3", "1 of 1", "0 of 1"]
        assert row[6:8] == ["1.00", "1.00"]
    assert float(found["compose"][9]) == 0 < float(found["stuff"][9])
    assert len(kept.read_text("utf-8").splitlines()) == len(rows(page.read_text("utf-8"), "real-model-answers")) == 12


def test_without_a_model_the_composed_answer_alone_is_measured(given: list[str]) -> None:
    assert main([*given, "--routes", "compose", "--answerable", "1", "--others", "0"]) == 0


def test_a_route_with_a_model_needs_one(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*given, "--routes", "stuff"]) == 2
    assert "--weights" in capsys.readouterr().out


def test_an_unknown_route_is_named(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*given, "--routes", "compose,guess"]) == 2
    assert "'guess'" in capsys.readouterr().out


def test_a_process_has_used_its_processor() -> None:
    assert cpu_seconds(os.getpid()) > 0
    assert cpu_seconds(2**22 + 1) == 0.0
