"""`ask --set cache=store`: answers kept in a file beside the corpus, from one call of the command to the next."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli.kept import answers_file
from tests.cli.conftest import Run

QUESTION = "What is an anabranch of a river?"


@pytest.fixture(autouse=True)
def _no_file(corpus: Path) -> Iterator[None]:
    """Leave nothing beside the corpus, which all tests share."""
    yield
    for path in corpus.parent.glob(f"{corpus.name}.answers.db*"):
        path.unlink()


def asked(run: Run, corpus: Path, *arguments: object) -> dict[str, Any]:
    result = run("ask", QUESTION, "--corpus", corpus, "--json", "--set", "cache=store", *arguments)
    assert result.exit_code == 0, result.stderr
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    return value


def test_the_next_call_gets_the_answer_of_before(run: Run, corpus: Path) -> None:
    first, second = asked(run, corpus), asked(run, corpus)
    assert first["cached"] == ""
    assert second["cached"].startswith("20")
    for name in ("answer", "citations", "passages", "queries", "route", "evidence"):
        assert second[name] == first[name]
    assert list(second["usage"]["ms"]) == ["begin", "recall", "finish"]
    shown = run("ask", QUESTION, "--corpus", corpus, "--set", "cache=store")
    assert f"This is the answer of {second['cached']} to the same question" in shown.stdout
    assert "--thread" not in shown.stderr
    assert stat.S_IMODE(answers_file(str(corpus)).stat().st_mode) == 0o600


def test_a_thread_and_a_single_question_share_what_is_kept(run: Run, corpus: Path) -> None:
    assert asked(run, corpus)["cached"] == ""
    assert asked(run, corpus, "--thread", "t")["cached"] != ""
    # By now the question is a follow-up.
    assert asked(run, corpus, "--thread", "t")["cached"] == ""


def test_a_file_that_is_no_store_costs_the_keeping_alone(run: Run, corpus: Path) -> None:
    answers_file(str(corpus)).write_bytes(b"no database" * 1000)
    result = run("ask", QUESTION, "--corpus", corpus, "--set", "cache=store")
    assert result.exit_code == 0
    assert "Answers are not kept" in result.stderr
    assert "[1]" in result.stdout


def test_without_it_there_is_no_file(run: Run, corpus: Path) -> None:
    assert run("ask", QUESTION, "--corpus", corpus).exit_code == 0
    assert not answers_file(str(corpus)).exists()
