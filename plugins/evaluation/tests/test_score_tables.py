from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import CollectionError
from anabranch_evaluation.eval_settings import context_of, settings_of
from anabranch_evaluation.score_tables import AnswerTable, ScoreTable, read_table, usual_table, with_expected

GOOD = """\
title: Two ways
metrics: [nDCG@10, R@5]
baseline: a
settings: {top_k: 100}
configurations:
  a: {}
  b: {fusion: rrf}
collections: [x, y]
cases:
  # the first
  - {collection: x, configuration: a, metric: nDCG@10, expected: null}
  - {collection: y, configuration: b, metric: R@5, expected: 0.5, tolerance: 0.02}
margins:
  - {configuration: b, over: [a], by: 0.01, where: mean}
"""


def read(tmp_path: Path, text: str) -> ScoreTable:
    path = tmp_path / "table.yaml"
    path.write_text(text, encoding="utf-8")
    table = read_table(path)
    assert isinstance(table, ScoreTable)
    return table


def test_a_table(tmp_path: Path) -> None:
    table = read(tmp_path, GOOD)
    assert table.metrics == ("nDCG@10", "R@5")
    assert table.configurations == {"a": {}, "b": {"fusion": "rrf"}}
    assert (table.tolerance, [case.tolerance for case in table.cases]) == (0.005, [None, 0.02])
    assert table.margins[0].over == ("a",)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("title: Two ways", "heading: x", "line 1: title: field required"),
        ("R@5]", "TokenX@5]", r"line 2: metrics\[1\]: there is no metric 'TokenX@5' of spans"),
        ("R@5]", "TokenR@5]", "line 2: metrics: metrics of tokens need a collection in `by_passage`"),
        ("[nDCG@10, R@5]", "[TokenR@5]", "line 2: metrics: TokenR@5 cannot be the first one"),
        ("[x, y]", "[x, y]\nby_passage: [z]", r"line 9: by_passage: the table has no collection 'z'"),
        ("R@5]", "quality]", r"line 2: metrics\[1\]: there is no metric 'quality'"),
        ("R@5]", "nDCG@10]", "line 2: metrics: it holds a name twice"),
        ("baseline: a", "baseline: c", "line 3: baseline: there is no configuration 'c'"),
        ("  a: {}\n", "  a: {}\n  a/b: {}\n", "line 7: configurations"),
        ("  b: {fusion: rrf}", "  b: rrf", r"line 7: configurations\.b: .*dictionary, not 'rrf'"),
        ("[x, y]", "[x, 1]", r"line 8: collections\[1\]: .*string, not '1'"),
        ("0.5, tol", "1.5, tol", r"line 12: cases\[1\]\.expected: .*less than or equal to 1, not '1\.5'"),
        ("0.5, tol", ".nan, tol", r"line 12: cases\[1\]\.expected"),
        ("0.5, tol", "high, tol", r"line 12: cases\[1\]\.expected: .*number, not 'high'"),
        ("expected: null", "expect: null", r"line 11: cases\[0\]\.expected: field required"),
        ("0.02", "-1", r"line 12: cases\[1\]\.tolerance"),
        ("collection: y", "collection: z", r"line 12: cases\[1\]\.collection: the table has no collection 'z'"),
        ("configuration: b, m", "configuration: c, m", r"line 12: .* no configuration 'c'"),
        ("metric: R@5", "metric: R@20", r"line 12: .* no metric 'R@20'"),
        (
            "collection: y, configuration: b, metric: R@5",
            "collection: x, configuration: a, metric: nDCG@10",
            r"line 12: cases\[1\]: it repeats cases\[0\]",
        ),
        ("over: [a]", "over: [c]", r"line 14: margins\[0\]: there is no configuration 'c'"),
        ("where: mean", "where: most", r"line 14: margins\[0\]\.where"),
        (GOOD, "just text", "line 1"),
        (GOOD, "", "line 1"),
    ],
)
def test_each_problem_is_told_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(CollectionError, match=said):
        read(tmp_path, GOOD.replace(old, new, 1))


def test_all_problems_are_told_together(tmp_path: Path) -> None:
    text = GOOD.replace("collection: y", "collection: z").replace("baseline: a", "baseline: q")
    with pytest.raises(CollectionError, match=r"line 3: .*; line 12: "):
        read(tmp_path, text)


def test_accepted_scores_go_into_their_places(tmp_path: Path) -> None:
    table = read(tmp_path, GOOD)
    text = with_expected(tmp_path / "table.yaml", table, {0: 0.123456, 1: 1.0})
    assert text == GOOD.replace("expected: null", "expected: 0.1235").replace("expected: 0.5", "expected: 1.0000")
    assert read(tmp_path, text).cases[0].expected == 0.1235


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    table = read(tmp_path, GOOD)
    (tmp_path / "table.yaml").write_text(GOOD.replace("Two", "Three"), encoding="utf-8")
    with pytest.raises(CollectionError, match="has changed"):
        with_expected(tmp_path / "table.yaml", table, {0: 0.5})


TABLE = """\
kind: answers  # not a table of rankings
title: Answers
collections: [animals, plants, stones]
related: [[animals, plants]]
cases:
  - {collection: animals, measure: contains, expected: null}
  - {collection: animals, measure: chars, expected: 40, tolerance: 5}
"""


def _table(tmp_path: Path, text: str = TABLE) -> Path:
    path = tmp_path / "answers.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_says_that_it_is_one_of_answers(tmp_path: Path) -> None:
    assert isinstance(read_table(_table(tmp_path)), AnswerTable)
    for text, said in (("kind: beauty\n", "line 1: kind: .*'beauty'.*answers"), ("[]\n", "line 1")):
        with pytest.raises(CollectionError, match=said):
            read_table(_table(tmp_path, text))


def test_related_collections_are_never_asked_each_others_questions(tmp_path: Path) -> None:
    table = read_table(_table(tmp_path))
    assert isinstance(table, AnswerTable)
    assert not table.may_ask("animals", "animals")
    assert not table.may_ask("animals", "plants")
    assert not table.may_ask("plants", "animals")
    assert table.may_ask("animals", "stones")


def test_expected_values_are_replaced_and_nothing_else(tmp_path: Path) -> None:
    path = _table(tmp_path)
    text = with_expected(path, read_table(path), {0: 0.75, 1: 41.5})
    assert text == TABLE.replace("null", "0.7500").replace("40", "41.5000")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("collections: [animals, plants, stones]", "collections: []"), "line 3"),
        (("[[animals, plants]]", "[[animals, weeds]]"), "line 4: related"),
        (("collection: animals, measure: contains", "collection: weeds, measure: contains"), "no collection 'weeds'"),
        (("measure: contains", "measure: beauty"), "line 6"),
        (("measure: chars", "measure: contains"), r"repeats cases\[0\]"),
        (("title: Answers", "titel: Answers"), "titel"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match=said):
        read_table(_table(tmp_path, TABLE.replace(*change)))


def test_the_usual_table_is_valid_and_compares_with_the_default() -> None:
    table = usual_table("mine")
    assert table.baseline in table.configurations
    assert table.collections == ("mine",)
    settings = settings_of(table, {}, reproducible=False, where="usual")
    assert context_of(settings["bm25"], "c").retrievers == ("bm25",)
    assert context_of(settings["rrf"], "c").strategy == "none"
