from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.question_file import QuestionLine, read_questions
from anabranch.errors import QuestionError


def lines(folder: Path, *given: str) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(given), encoding="utf-8")
    return path


def test_question_or_text_and_ids_of_both_kinds(tmp_path: Path) -> None:
    path = lines(tmp_path, '{"id": "a", "question": "Why?"}', "", '{"id": 7, "text": "How?", "answer": "so"}')
    assert read_questions(path) == [QuestionLine("a", "Why?"), QuestionLine(7, "How?")]


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a", "question": "Why?"}\r\n')
    assert read_questions(path) == [QuestionLine("a", "Why?")]


def test_line_separators_inside_json_text_do_not_cut_the_line(tmp_path: Path) -> None:
    path = lines(tmp_path, json.dumps({"id": "a", "question": "one\u2028two\x85three"}, ensure_ascii=False))
    assert read_questions(path)[0].question == "one\u2028two\x85three"


def test_every_bad_line_is_named_by_its_number(tmp_path: Path) -> None:
    good = '{"id": "a", "question": "Why?"}'
    path = lines(tmp_path, good, "{", "[]", '{"question": "x"}', '{"id": "b"}', good)
    with pytest.raises(QuestionError) as caught:
        read_questions(path)
    said = str(caught.value)
    for part in (
        "line 2: ",
        "line 3: it is not an object",
        "line 4: it has no '_id' or 'id'",
        "line 5: it has no 'question'",
    ):
        assert part in said
    assert "line 6: the id 'a' is used on an earlier line" in said


@pytest.mark.parametrize("row", ['{"id": true, "text": "x"}', '{"id": null, "text": "x"}', '{"id": " ", "text": "x"}'])
def test_an_id_is_text_or_a_number(tmp_path: Path, row: str) -> None:
    with pytest.raises(QuestionError, match="line 1: it has no '_id'"):
        read_questions(lines(tmp_path, row))


@pytest.mark.parametrize("row", ['{"id": 1, "text": " "}', '{"id": 1, "text": 5}', '{"id": 1, "question": null}'])
def test_a_question_is_text_that_is_not_blank(tmp_path: Path, row: str) -> None:
    with pytest.raises(QuestionError, match="line 1: it has no 'question'"):
        read_questions(lines(tmp_path, row))


def test_many_bad_lines_are_counted(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="and 15 more"):
        read_questions(lines(tmp_path, *["{"] * 20))


def test_empty_missing_and_binary_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="holds no question"):
        read_questions(lines(tmp_path, "", ""))
    with pytest.raises(QuestionError, match="cannot be read"):
        read_questions(tmp_path / "missing.jsonl")
    binary = tmp_path / "b.jsonl"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(QuestionError, match="cannot be read"):
        read_questions(binary)
