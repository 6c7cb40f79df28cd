"""A file of questions, answered line by line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch.cli.answer_batch import finished_answers
from anabranch.cli.question_file import QuestionLine
from anabranch.errors import SettingsError
from tests.cli.conftest import Run, rows_of, write_rows
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import SILENT, Reply, in_turn

ROWS = (
    {"id": "a", "question": "What is an anabranch?"},
    {"id": 2, "text": "Who decoded the waggle dance?"},
    {"id": "c", "question": "Where is the spare key of the cellar?"},
)


def ask(run: Run, corpus: Path, questions: Path, out: Path, *more: object) -> int:
    result = run("ask", "--questions", questions, "--out", out, "--corpus", corpus, *more)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.exit_code


@pytest.mark.parametrize("jobs", [1, 3])
def test_each_line_is_what_ask_prints_with_its_id(run: Run, corpus: Path, tmp_path: Path, jobs: int) -> None:
    questions, out = write_rows(tmp_path / "q.jsonl", *ROWS), tmp_path / "out.jsonl"
    assert ask(run, corpus, questions, out, "--jobs", jobs) == 0
    rows = rows_of(out)
    assert [row["id"] for row in rows] == ["a", 2, "c"]
    assert "blue door" in rows[2]["answer"]
    alone = json.loads(run("ask", ROWS[0]["question"], "--corpus", corpus, "--json").stdout)
    assert set(rows[0]) == {"id", *alone}
    assert rows[0]["answer"] == alone["answer"]


def test_what_is_answered_is_not_asked_again(run: Run, corpus: Path, tmp_path: Path) -> None:
    questions, out = write_rows(tmp_path / "q.jsonl", *ROWS), tmp_path / "out.jsonl"
    ask(run, corpus, write_rows(tmp_path / "some.jsonl", *ROWS[:2]), out)
    before = out.read_text()
    out.write_text(before + '{"id": "c", "question": "Where is the sp')
    assert ask(run, corpus, questions, out) == 0
    assert out.read_text().startswith(before)
    assert [row["id"] for row in rows_of(out)] == ["a", 2, "c"]
    whole = out.read_text()
    assert ask(run, corpus, questions, out) == 0
    assert out.read_text() == whole


def test_a_question_that_fails_is_recorded_and_tried_again(run: Run, corpus: Path, tmp_path: Path) -> None:
    questions = write_rows(tmp_path / "q.jsonl", {"id": "odd", "question": "???"}, *ROWS[:1])
    out = tmp_path / "out.jsonl"
    assert ask(run, corpus, questions, out) == 1
    rows = rows_of(out)
    assert [row["id"] for row in rows] == ["odd", "a"]
    assert rows[0]["error"]["code"] == "question"
    assert "no letter" in rows[0]["error"]["message"]
    assert rows[0]["question"] == "???"
    assert ask(run, corpus, questions, out) == 1
    assert [row["id"] for row in rows_of(out)] == ["a", "odd"]


def test_bad_lines_are_refused_before_the_start(run: Run, corpus: Path, tmp_path: Path) -> None:
    questions, out = write_rows(tmp_path / "q.jsonl", *ROWS, {"id": "a", "question": "again"}), tmp_path / "out.jsonl"
    assert ask(run, corpus, questions, out) == 2
    assert not out.exists()


@pytest.mark.parametrize(
    "more", [["--thread", "t"], ["--explain"], ["--json"], ["--set", "review=sources"], ["--jobs", "0"]]
)
def test_what_does_not_go_together(run: Run, corpus: Path, tmp_path: Path, more: list[str]) -> None:
    questions, out = write_rows(tmp_path / "q.jsonl", *ROWS), tmp_path / "out.jsonl"
    assert ask(run, corpus, questions, out, *more) == 2
    assert not out.exists()


def test_what_no_question_could_survive_is_said_once(run: Run, tmp_path: Path) -> None:
    questions, out = write_rows(tmp_path / "q.jsonl", *ROWS), tmp_path / "out.jsonl"
    assert ask(run, tmp_path / "no-corpus", questions, out) == 2
    assert not out.exists()


ANABRANCH = "An anabranch is a section of a river that diverts from the main channel and rejoins it downstream."


@pytest.mark.loopback
def test_killed_in_the_middle_it_goes_on(run: Run, corpus: Path, tmp_path: Path) -> None:
    many = [{"id": number, "question": f"What is an anabranch, number {number}?"} for number in range(6)]
    questions, out = write_rows(tmp_path / "q.jsonl", *many), tmp_path / "out.jsonl"
    with OpenAIStub(in_turn(ANABRANCH, ANABRANCH, SILENT)) as stub:
        command = [sys.executable, "-m", "anabranch.cli", "ask", "--questions", questions, "--out", out]
        model = ["--model", "openai:stub", "--base-url", stub.base_url, "--set", "strategy=none"]
        process = subprocess.Popen(
            [str(part) for part in [*command, "--corpus", corpus, *model]], stderr=subprocess.DEVNULL
        )
        stub.wait_until(lambda calls: len(calls) == 3)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert [row["id"] for row in rows_of(out)] == [0, 1]
    assert ask(run, corpus, questions, out) == 0
    assert [row["id"] for row in rows_of(out)] == list(range(6))


ASKED = [QuestionLine("a", "Why?"), QuestionLine(2, "How?"), QuestionLine("c", "Who?")]


@pytest.mark.loopback
def test_an_answer_that_the_model_did_not_write_is_counted_as_such(run: Run, corpus: Path, tmp_path: Path) -> None:
    asked = write_rows(tmp_path / "q.jsonl", *ROWS[:2])
    down, usual = Reply("down", status=500), Reply(ANABRANCH)
    with OpenAIStub(lambda request: down if "Who decoded" in request.user else usual) as stub:
        model = ["--model", "openai:stub", "--base-url", stub.base_url, "--set", "strategy=none"]
        model += ["--set", "model_retries=0"]
        plain = run("ask", "--questions", asked, "--out", tmp_path / "a.jsonl", "--corpus", corpus, *model)
        strict = run("ask", "--questions", asked, "--out", tmp_path / "b.jsonl", "--corpus", corpus, "--strict", *model)
    assert (plain.exit_code, strict.exit_code) == (0, 1)
    for result in (plain, strict):
        assert "1 of 2 answers were not written by the requested model." in result.stderr
    first, second = rows_of(tmp_path / "a.jsonl")
    assert first["degraded"] == []
    assert second["answer"].startswith("The chat model wrote no answer: the passages that match best.")
    assert second["degraded"][-1]["code"] == "model_did_not_write"


def test_a_new_file_has_no_answers(tmp_path: Path) -> None:
    assert finished_answers(tmp_path / "out.jsonl", ASKED) == set()
    assert not (tmp_path / "out.jsonl").exists()


def test_answers_stay_and_failures_go(tmp_path: Path) -> None:
    out = write_rows(
        tmp_path / "out.jsonl",
        {"id": "a", "question": "Why?", "answer": "So."},
        {"id": 2, "question": "How?", "error": {"code": "model", "message": "down"}},
    )
    assert finished_answers(out, ASKED) == {"a"}
    assert [row["id"] for row in rows_of(out)] == ["a"]


@pytest.mark.parametrize("torn", ['{"id": 2, "question": "How?", "ans', "{", '{"id": 2}', "\x00\x00"])
def test_a_torn_last_line_goes(tmp_path: Path, torn: str) -> None:
    out = write_rows(tmp_path / "out.jsonl", {"id": "a", "question": "Why?", "answer": "So."})
    out.write_text(out.read_text() + torn)
    assert finished_answers(out, ASKED) == {"a"}
    assert out.read_text().endswith("}\n")
    assert len(rows_of(out)) == 1


def test_a_last_line_torn_inside_a_character_goes(tmp_path: Path) -> None:
    out = write_rows(tmp_path / "out.jsonl", {"id": "a", "question": "Why?", "answer": "So."})
    out.write_bytes(out.read_bytes() + '{"id": 2, "question": "é'.encode()[:-1])
    assert finished_answers(out, ASKED) == {"a"}


def test_a_whole_last_line_that_lost_only_its_end_counts(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text(json.dumps({"id": "a", "question": "Why?", "answer": "So."}))
    assert finished_answers(out, ASKED) == {"a"}
    assert out.read_text().endswith("\n")


def test_answers_to_questions_of_another_file_stay(tmp_path: Path) -> None:
    out = write_rows(tmp_path / "out.jsonl", {"id": "z", "question": "Else?", "answer": "So."})
    assert finished_answers(out, ASKED) == {"z"}


def test_another_question_under_the_same_id_is_refused(tmp_path: Path) -> None:
    out = write_rows(tmp_path / "out.jsonl", {"id": "a", "question": "Why not?", "answer": "So."})
    with pytest.raises(SettingsError, match="another question under the id 'a'"):
        finished_answers(out, ASKED)


def test_a_file_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    out = tmp_path / "notes.txt"
    out.write_text("my notes\nof the week\n")
    with pytest.raises(SettingsError, match="line 1"):
        finished_answers(out, ASKED)
    assert out.read_text() == "my notes\nof the week\n"


def test_the_folder_has_to_exist(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="does not exist"):
        finished_answers(tmp_path / "missing" / "out.jsonl", ASKED)
    with pytest.raises(SettingsError, match="folder"):
        finished_answers(tmp_path, ASKED)
