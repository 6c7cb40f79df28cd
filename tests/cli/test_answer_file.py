from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.answer_batch import finished_answers
from anabranch.cli.question_file import QuestionLine
from anabranch.errors import SettingsError
from tests.cli.conftest import rows_of, write_rows

ASKED = [QuestionLine("a", "Why?"), QuestionLine(2, "How?"), QuestionLine("c", "Who?")]


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
