from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import CollectionError
from anabranch_evaluation.queries import Gold, contains, gold_of, overlap, read_gold, read_named_documents, read_queries
from plugins.evaluation.tests.made import write_lines


def read(tmp_path: Path, text: str) -> dict[str, str]:
    path = tmp_path / "queries.jsonl"
    path.write_bytes(text.encode("utf-8"))
    return read_queries(path)


def test_both_spellings_are_read_and_order_is_kept(tmp_path: Path) -> None:
    lines = '{"_id": "b", "text": "second?", "metadata": {}}\n\n{"id": 7, "question": "first?"}\r\n'
    assert read(tmp_path, "\ufeff" + lines) == {"b": "second?", "7": "first?"}


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path: Path) -> None:
    assert read(tmp_path, '{"_id": "a", "text": "one\u2028two"}') == {"a": "one\u2028two"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2"),
        ("[1]", "not an object"),
        ('{"text": "x"}', "no '_id'"),
        ('{"_id": true, "text": "x"}', "no '_id'"),
        ('{"_id": " ", "text": "x"}', "no '_id'"),
        ('{"_id": "b", "text": " "}', "no 'question' or 'text'"),
        ('{"_id": "b", "text": 3}', "no 'question' or 'text'"),
        ('{"_id": "a", "text": "again"}', "earlier line"),
        ("[" * 100_000, "line 2"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(CollectionError, match=said) as caught:
        read(tmp_path, '{"_id": "a", "text": "fine"}\n' + line)
    assert "line 2" in str(caught.value)


def test_many_bad_lines_are_counted(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="and 7 more"):
        read(tmp_path, "x\n" * 12)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_file_without_queries_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CollectionError, match="holds no query"):
        read(tmp_path, text)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"\xff\xfe\xfa")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "latin"):
        with pytest.raises(CollectionError, match="cannot be read"):
            read_queries(path)


def test_references_name_documents(tmp_path: Path) -> None:
    rows = [
        {"id": "q0", "text": "Why?", "corpus_id": "d", "references": [{"content": "a"}, {"corpus_id": 7}]},
        {"_id": 1, "text": "How?", "references": [{"corpus_id": " e "}]},
        {"_id": "q3", "text": "No evidence."},
        {"_id": "q4", "text": "None of it.", "corpus_id": "d", "references": []},
    ]
    assert read_named_documents(write_lines(tmp_path / "queries.jsonl", rows)) == {"q0": {"d", "7"}, "1": {"e"}}


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"references": [{"content": "a"}]}, "names no document"),
        ({"references": "a", "corpus_id": "d"}, "not a list"),
    ],
)
def test_a_line_that_names_no_document_is_named(tmp_path: Path, bad: dict[str, object], said: str) -> None:
    path = write_lines(tmp_path / "queries.jsonl", [{"_id": "q", "text": "fine"}, {"_id": "r", "text": "bad", **bad}])
    with pytest.raises(CollectionError, match=rf"line 2: .*{said}"):
        read_named_documents(path)


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
