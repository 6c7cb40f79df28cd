from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import QuestionError
from anabranch.evaluation.runs import best_per_document, document_id, run_lines

scores = st.lists(st.floats(-1e6, 1e6, width=32), max_size=60)


def test_a_line_has_the_six_columns() -> None:
    lines = list(run_lines("q1", [("d1", 0.5), ("d2", 0.25)], tag="t"))
    assert lines == ["q1 Q0 d1 1 0.5 t", "q1 Q0 d2 2 0.25 t"]


@given(scores)
def test_scores_fall_strictly_in_32_bits_and_ranks_count_from_one(given_scores: list[float]) -> None:
    ranked = [(f"d{i}", score) for i, score in enumerate(sorted(given_scores, reverse=True))]
    columns = [line.split() for line in run_lines("q", ranked)]
    written = [np.float32(column[4]) for column in columns]
    assert all(high > low for high, low in pairwise(written))
    assert [column[3] for column in columns] == [str(rank) for rank in range(1, len(ranked) + 1)]
    assert [column[2] for column in columns] == [document for document, _ in ranked]


@given(scores)
def test_scores_that_differ_are_written_as_they_are(given_scores: list[float]) -> None:
    distinct = sorted({np.float32(score) for score in given_scores}, reverse=True)
    lines = run_lines("q", [(f"d{i}", float(score)) for i, score in enumerate(distinct)])
    assert [np.float32(line.split()[4]) for line in lines] == distinct


def test_scores_are_written_without_an_exponent() -> None:
    assert list(run_lines("q", [("d", 1e-12)])) == ["q Q0 d 1 0.000000000001 anabranch"]


def test_a_document_counts_as_its_best_passage() -> None:
    ranked = [("a", 3.0), ("b", 2.0), ("a", 1.0), ("c", 0.5)]
    assert best_per_document(ranked, 10) == [("a", 3.0), ("b", 2.0), ("c", 0.5)]
    assert best_per_document(ranked, 2) == [("a", 3.0), ("b", 2.0)]


@pytest.mark.parametrize("query", ["", "a b", "a\tb", "a\u00a0b"])
def test_a_query_id_with_white_space_is_refused(query: str) -> None:
    with pytest.raises(QuestionError, match="white space"):
        list(run_lines(query, []))


def test_white_space_in_a_document_id_is_encoded_and_nothing_else_changes() -> None:
    assert document_id("my notes%.md") == "my%20notes%25.md"
    assert document_id("100%.md") == "100%.md"
    assert document_id("Überblick/a#1::0") == "Überblick/a#1::0"
    (line,) = run_lines("q", [("a b", 1.0)])
    assert len(line.split()) == 6
