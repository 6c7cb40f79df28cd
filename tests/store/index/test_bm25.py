"""Scores equal those of rank_bm25, only what shares a term comes back, masks come before ranking."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from anabranch.store.index.bm25 import BM25, Inverted
from anabranch.store.index.postings import Postings, write_postings
from anabranch.text.analyzer import analyser
from anabranch.text.sentences import spans

words = st.sampled_from(["a", "b", "c", "d", "é", "日本", "c++", "e" * 30])
documents = st.lists(st.lists(words, max_size=8), min_size=1, max_size=12).filter(lambda corpus: any(corpus))


def index_of(folder: Path, corpus: list[list[str]]) -> BM25:
    write_postings(folder, corpus)
    return BM25([Inverted(Postings(folder), 0, None)])


def index_of_segments(folder: Path, segments: list[list[list[str]]]) -> BM25:
    """An index of several segments."""
    inverted, first = [], 0
    for number, segment in enumerate(segments):
        (folder / str(number)).mkdir(parents=True)
        write_postings(folder / str(number), segment)
        inverted.append(Inverted(Postings(folder / str(number)), first, None))
        first += len(segment)
    return BM25(inverted)


@given(documents, st.lists(words, max_size=5))
@example([[], ["a", "d", "é"], ["a", "b", "c", "d", "é", "日本"], ["a", "d", "é"]], ["a"])  # all scores are next to 0
def test_scores_are_those_of_rank_bm25(corpus: list[list[str]], query: list[str]) -> None:
    with TemporaryDirectory() as folder:
        (found,) = index_of(Path(folder), corpus).search([query], len(corpus), [None])
    expected = BM25Okapi(corpus, epsilon=0).get_scores(query)
    sharing = [row for row, document in enumerate(corpus) if set(document) & set(query)]
    assert sorted(found.rows.tolist()) == sharing
    np.testing.assert_allclose(found.scores, expected[found.rows], rtol=1e-12, atol=1e-12)
    # Scores that differ in their last bit alone may stand in another order than rank_bm25's.
    own = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
    assert found.rows.tolist() == sorted(sharing, key=lambda row: (-own[row], row))


def test_scores_are_those_of_rank_bm25_on_a_novel(shared: Path, tmp_path: Path) -> None:
    text = (shared / "data" / "seeds" / "gatsby.txt").read_text("utf-8")
    corpus = [analyser().terms(text[start:end]) for start, end in spans(text)]
    index, reference = index_of(tmp_path, corpus), BM25Okapi(corpus, epsilon=0)
    questions = ["Who is Gatsby?", "the green light at the end of Daisy's dock", "old sport old sport", "West Egg"]
    queries = [analyser().terms(question) for question in questions]
    for query, found in zip(queries, index.search(queries, 20, [None]), strict=True):
        expected = reference.get_scores(query)
        assert np.abs(found.scores - expected[found.rows]).max() < 1e-9
        assert found.rows.tolist() == np.lexsort((np.arange(len(expected)), -expected))[:20].tolist()
        for term in query:
            assert index.idf(term) == pytest.approx(reference.idf[term], rel=1e-12)


@given(documents, st.lists(words, min_size=1, max_size=4), st.randoms(use_true_random=False), st.integers(1, 5))
def test_a_mask_hides_rows_and_changes_no_score(corpus: list[list[str]], query: list[str], random, k: int) -> None:
    mask = np.asarray([random.random() < 0.5 for _ in corpus])
    with TemporaryDirectory() as folder:
        index = index_of(Path(folder), corpus)
        (everything,) = index.search([query], len(corpus), [None])
        (found,) = index.search([query], k, [mask])
    allowed = [place for place, row in enumerate(everything.rows) if mask[row]][:k]
    assert found.rows.tolist() == everything.rows[allowed].tolist()
    assert found.scores.tolist() == everything.scores[allowed].tolist()


@given(documents, st.lists(words, min_size=1, max_size=4), st.randoms(use_true_random=False), st.integers(1, 3))
def test_within_a_mask_it_is_as_if_the_other_rows_were_not_there(
    corpus: list[list[str]], query: list[str], random, parts: int
) -> None:
    segments = [corpus[place::parts] for place in range(parts)]
    masks = [np.asarray([random.random() < 0.6 for _ in segment], dtype=np.bool_) for segment in segments]
    masks = [None if random.random() < 0.2 else mask for mask in masks]
    rows = [row for segment in segments for row in segment]
    seen = np.concatenate([np.ones(len(s), np.bool_) if m is None else m for s, m in zip(segments, masks, strict=True)])
    left = [row for row, is_seen in zip(rows, seen, strict=True) if is_seen]
    with TemporaryDirectory() as folder:
        whole = index_of_segments(Path(folder), segments).restrict(masks)
        alone = index_of_segments(Path(folder) / "alone", [left])
        (found,) = whole.search([query], len(rows), masks)
        (expected,) = alone.search([query], len(rows), [None])
        assert found.rows.tolist() == np.flatnonzero(seen)[expected.rows].tolist()
        assert found.scores.tolist() == expected.scores.tolist()
        (scores,) = whole.scores([query], np.flatnonzero(seen))
        assert scores.tolist() == alone.scores([query], np.arange(len(left)))[0].tolist()
        assert [whole.idf(term) for term in query] == [alone.idf(term) for term in query]


def test_no_match_no_rows(tmp_path: Path) -> None:
    index = index_of(tmp_path, [["fig", "jam"], ["plum", "tart"], ["cherry", "cake"]])
    assert [len(found.rows) for found in index.search([["kale"], [], ["fig"]], 10, [None])] == [0, 0, 1]
    assert index.idf("kale") is None


@pytest.mark.parametrize("corpus", [[], [[]], [[], []]])
def test_an_index_of_nothing_opens(tmp_path: Path, corpus: list[list[str]]) -> None:
    (found,) = index_of(tmp_path, corpus).search([["x"]], 5, [None])
    assert len(found.rows) == 0


def test_counts_past_sixteen_bits(tmp_path: Path) -> None:
    corpus = [["x"] * 70_000 + ["y"], ["x"], ["z"], ["z"]]
    (found,) = index_of(tmp_path, corpus).search([["x"]], 5, [None])
    np.testing.assert_allclose(found.scores, BM25Okapi(corpus, epsilon=0).get_scores(["x"])[found.rows], rtol=1e-12)


def test_the_best_of_very_many_are_those_of_a_full_sort(tmp_path: Path) -> None:
    dice = np.random.default_rng(3)
    corpus = [["x"] * int(times) + ["y"] * int(rest) for times, rest in dice.integers(1, 40, (30_000, 2))]
    index = index_of(tmp_path, corpus)
    for k in (1, 50, 4_096, 5_000):
        (found,) = index.search([["x", "y"]], k, [None])
        (everything,) = index.search([["x", "y"]], len(corpus), [None])
        assert found.rows.tolist() == everything.rows[:k].tolist()


def test_a_commoner_word_never_counts_for_more(tmp_path: Path) -> None:
    index = index_of(tmp_path, [[f"w{word}" for word in range(40) if row <= word] for row in range(40)])
    weights = [index.idf(f"w{word}") or 0.0 for word in range(40)]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > 3
    assert weights[-1] == 0
