from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import CollectionError
from anabranch.evaluation.score_tables import is_answer_table, read_answer_table, with_expected

TABLE = """\
kind: answers  # not a table of rankings
title: Answers
collections: [animals, plants, stones]
related: [[animals, plants]]
cases:
  - {collection: animals, measure: contains, expected: null}
  - {collection: animals, measure: words, expected: 40, tolerance: 5}
"""


def _table(tmp_path: Path, text: str = TABLE) -> Path:
    path = tmp_path / "answers.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_says_that_it_is_one_of_answers(tmp_path: Path) -> None:
    assert is_answer_table(_table(tmp_path))
    assert not is_answer_table(_table(tmp_path, "title: Rankings\nmetrics: [R@5]\n"))
    assert not is_answer_table(_table(tmp_path, "[]\n"))


def test_related_collections_are_never_asked_each_others_questions(tmp_path: Path) -> None:
    table = read_answer_table(_table(tmp_path))
    assert not table.may_ask("animals", "animals")
    assert not table.may_ask("animals", "plants")
    assert not table.may_ask("plants", "animals")
    assert table.may_ask("animals", "stones")


def test_expected_values_are_replaced_and_nothing_else(tmp_path: Path) -> None:
    path = _table(tmp_path)
    text = with_expected(path, read_answer_table(path), {0: 0.75, 1: 41.5})
    assert text == TABLE.replace("null", "0.7500").replace("40", "41.5000")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("collections: [animals, plants, stones]", "collections: []"), "line 3"),
        (("[[animals, plants]]", "[[animals, weeds]]"), "line 4: related"),
        (("collection: animals, measure: contains", "collection: weeds, measure: contains"), "no collection 'weeds'"),
        (("measure: contains", "measure: beauty"), "line 6"),
        (("measure: words", "measure: contains"), "twice"),
        (("title: Answers", "titel: Answers"), "titel"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match=said):
        read_answer_table(_table(tmp_path, TABLE.replace(*change)))
