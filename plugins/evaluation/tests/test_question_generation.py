from __future__ import annotations

import re

import pytest

from anabranch_evaluation.question_generation import SourcePassage, number_questions, read_question

ENGLISH = SourcePassage("weir.md", "The weir was rebuilt in 1850 by\nIda “the Hammer” Marrow, an engineer.")
GERMAN = SourcePassage("wehr.md", "Das Wehr wurde 1850 von der Ingenieurin Ida Marrow neu gebaut.")


@pytest.mark.parametrize(
    ("reply", "passage"),
    [
        ('Who rebuilt the weir?\nIda Marrow\nrebuilt in 1850 by Ida "the Hammer" Marrow', ENGLISH),
        ("1. Who rebuilt the weir?\n2. Ida Marrow\n3. **rebuilt in 1850 by Ida**", ENGLISH),
        (
            "<think>Hm.</think>Question: Who rebuilt it: the weir?\n\nAnswer: Ida Marrow\nEvidence: in 1850 by Ida",
            ENGLISH,
        ),
        ("Frage: Wer baute das Wehr?\nAntwort: Ida Marrow\nBeleg: „1850 von der Ingenieurin Ida Marrow“", GERMAN),
        ("Wehr: wer baute es?\nIda Marrow\n1850 von der Ingenieurin Ida Marrow", GERMAN),
    ],
)
def test_three_lines_are_read_however_they_are_labelled(reply: str, passage: SourcePassage) -> None:
    row = read_question(reply, passage)
    assert row is not None
    assert row["question"].endswith("?")
    assert row["question"].startswith("W")
    assert row["answer"] == "Ida Marrow"
    assert row["doc"] == passage.document
    assert re.search(row["evidence_regex"], passage.text, re.IGNORECASE)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot.",
        "Who?\nIda",
        "Who rebuilt it?\nIda\nrebuilt in 1851 by Ida Marrow",
        "Who?\nIda\nIda",
        "a\nb\nc\nd",
    ],
)
def test_what_does_not_stand_in_the_passage_is_no_question(reply: str) -> None:
    assert read_question(reply, ENGLISH) is None


def test_each_question_is_asked_once() -> None:
    found = [{"question": "Who?", "answer": "a"}, {"question": "WHO?", "answer": "b"}, {"question": "When?"}]
    assert [(row["id"], row["question"]) for row in number_questions(found)] == [("g1", "Who?"), ("g2", "When?")]
