from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import CollectionError
from anabranch.evaluation.queries import Gold, contains, gold_of, overlap, read_gold
from tests.evaluation.made import write_lines


def test_case_punctuation_and_articles_do_not_count() -> None:
    gold = Gold(answers=("The Halden Weir", "1,412"))
    assert contains("It was built at the Halden weir's side: the «HALDEN   weir».", gold)
    assert contains("In the best year 1,412 salmon came.", gold)
    assert not contains("In the best year 11,412 salmon came to Haldenweir.", gold)


def test_a_pattern_is_enough_and_without_anything_nothing_is_said() -> None:
    gold = gold_of({"evidence_regex": "eighty\\s+a\\s+month", "answer": "eighty dollars a month"})
    assert contains("a bungalow at Eighty a\nmonth", gold)
    assert contains("It costs eighty dollars a month.", gold)
    assert not contains("eighty", gold)
    assert contains("anything", Gold()) is None
    assert not Gold().is_comparable


def test_long_answers_and_plain_yes_and_no_are_no_strings_to_look_for() -> None:
    assert gold_of({"answers": ["yes"], "answer": "No."}).answers == ()
    assert gold_of({"answer": "word " * 30}).answers == ()
    assert gold_of({"answer": None, "unanswerable": True}).answerable is False


def test_overlap_counts_each_word_as_often_as_both_have_it() -> None:
    shared = overlap("otters sleep otters", ["Otters sleep.", "They hold hands."])
    assert shared.precision == pytest.approx(2 / 3)
    assert shared.recall == pytest.approx(2 / 5)
    assert overlap("", ["x"]).precision == 0.0


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=3))
def test_overlap_is_a_share(text: str, references: list[str]) -> None:
    shared = overlap(text, references)
    assert 0 <= shared.recall <= 1
    assert 0 <= shared.precision <= 1


def test_the_lines_of_several_benchmarks_are_read(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "text": "?", "references": [{"content": "One sentence.", "start_index": 3}], "answer": "x"},
        {"_id": "b", "text": "?", "answers": ["x", "x", "X Y"]},
        {"_id": 3, "text": "?", "evidence_regex": "x+", "doc": "novel"},
    ]
    gold = read_gold(write_lines(tmp_path / "q.jsonl", rows))
    assert gold["a"].references == ("One sentence.",)
    assert gold["b"].answers == ("x", "X Y")
    assert gold["3"].document == "novel"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"_id": "q", "evidence_regex": "("}, "line 1"),
        ({"_id": "q", "evidence_regex": 3}, "not text"),
        ({"_id": "q", "answers": {"a": 1}}, "not text or a list"),
        ({"_id": "q", "answers": [1]}, "not text"),
        ([], "line 1"),
    ],
)
def test_bad_lines_are_named(row: object, said: str, tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match=said):
        read_gold(write_lines(tmp_path / "q.jsonl", [row]))
