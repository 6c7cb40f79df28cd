"""Words of many passages counted at once, beside counting them one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch_postgres import word_counts as module
from anabranch_postgres.bm25_counts import term_number
from anabranch_postgres.word_counts import word_counts

LEAVES = st.lists(st.lists(st.sampled_from(["weir", "mill", "wehr", "мельница", "水", "c++"]), max_size=9), max_size=9)


@given(LEAVES)
def test_each_leaf_has_its_terms_in_order(leaves: list[list[str]]) -> None:
    counted = word_counts(leaves)
    terms = counted.distinct[counted.places].tolist()
    spans = [(first - 1, last) for first, last in zip(*(each.tolist() for each in counted.spans()), strict=True)]
    for leaf, length, (first, last) in zip(leaves, counted.lengths.tolist(), spans, strict=True):
        expected = sorted(Counter(map(term_number, leaf)).items())
        assert length == len(leaf)
        assert list(zip(terms[first:last], counted.counts[first:last].tolist(), strict=True)) == expected


@given(LEAVES)
def test_postings_come_by_term_and_leaf(leaves: list[list[str]]) -> None:
    counted = word_counts(leaves)
    order = counted.by_term()
    found = zip(counted.distinct[counted.places[order]].tolist(), counted.rows[order].tolist(), strict=True)
    assert list(found) == sorted({(term_number(term), row) for row, leaf in enumerate(leaves) for term in leaf})


@given(LEAVES, st.integers(1, 3))
def test_leaves_that_hold_a_term_are_counted_by_group(leaves: list[list[str]], groups: int) -> None:
    counted = word_counts(leaves)
    found = counted.frequencies(np.arange(len(leaves)) % groups)
    holding = Counter((term_number(term), row % groups) for row, leaf in enumerate(leaves) for term in set(leaf))
    assert list(zip(*(each.tolist() for each in found), strict=True)) == [
        (*key, holding[key]) for key in sorted(holding)
    ]


def test_a_count_has_two_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_COUNTED", 3)
    counted = word_counts([["weir"] * 5])
    assert (counted.lengths.tolist(), counted.counts.tolist()) == ([5], [3])
