"""Questions are read and sampled evenly; an answer holds what is expected in any of its spellings, or does not."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from anabranch.errors import SettingsError
from evals.real_model.questions import Question, contains, read_questions, sample

DOCUMENTS = [Path("books/gatsby.txt"), Path("lyft_2021_10k.pdf")]


def question(answer: str, evidence: str = "") -> Question:
    return Question("q", "Which?", answer, evidence, "answerable")


def written(tmp_path: Path, *records: dict[str, object]) -> Path:
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


@pytest.mark.parametrize(
    ("expected", "evidence", "answer"),
    [
        ("green", "", "The light is Green [1]."),
        ("$1,009.4 million", "", "A net loss of 1009.4 million dollars [2]."),
        ("$1,009.4 million", r"1,009,359", "Net loss was $1,009,359 thousand."),
        ("18.7 million (18,728 thousand)", "", "There were 18728 thousand riders."),
        ("Proximal Policy Optimization (PPO)", "", "They used PPO."),
        ("4k (4096) tokens, double that of Llama 1", "", "4096 tokens."),
        ("about 2 trillion tokens", "", "They saw 2 trillion tokens in all."),
        ("the IBM 1401", "", "on an IBM 1401"),
    ],
)
def test_an_answer_that_holds_it(expected: str, evidence: str, answer: str) -> None:
    assert contains(answer, question(expected, evidence))


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("green", "The light is evergreen."),
        ("4096", "40961"),
        ("2.5", "2"),
        ("Dan Cody", "Cody, Dan"),
        ("", "anything"),
    ],
)
def test_an_answer_that_does_not(expected: str, answer: str) -> None:
    assert not contains(answer, question(expected))


def test_whose_document_is_not_there_is_absent(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"id": "1", "doc": "gatsby", "text": "Who?", "answer": "Dan Cody", "evidence_regex": "Cody"},
        {"id": "2", "doc": "lyft_2021", "text": "When?", "answer": None, "unanswerable": True},
        {"id": "3", "doc": "uber", "text": "What?", "answer": "8"},
    )
    assert [q.kind for q in read_questions(file, DOCUMENTS)] == ["answerable", "unanswerable", "absent"]


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"id": "1"}', '{"id":"1","doc":"gatsby","text":"x","evidence_regex":"("}']
)
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"id": "1", "doc": "a", "text": "b"}\n' + line + "\n")
    with pytest.raises(SettingsError, match="line 2"):
        read_questions(file, DOCUMENTS)


def test_a_sample_takes_both_kinds_in_turn_and_begins_with_some_of_each() -> None:
    kinds = ["answerable"] * 10 + ["unanswerable"] * 2 + ["absent"] * 5
    everything = [Question(str(place), "?", "", "", kind) for place, kind in enumerate(kinds)]
    chosen = sample(everything, 6, 4)
    assert Counter(q.kind for q in chosen) == {"answerable": 6, "unanswerable": 2, "absent": 2}
    assert not all(q.answerable for q in chosen[:4])
    assert len(sample(everything, 100, 100)) == len(everything)
