from __future__ import annotations

import re
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.evaluation.metrics import TextSpan, cutoff_of, measure_of, scores_of, span_measure, span_scores

QRELS = {"q": {"good": 2, "fair": 1, "bad": 0}}
RANKED = {"q": ["bad", "good", "fair", "unknown"]}


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("nDCG@10", (2 / log2(3) + 1 / log2(4)) / (2 / log2(2) + 1 / log2(3))),
        ("nDCG@2", (2 / log2(3)) / (2 / log2(2) + 1 / log2(3))),
        ("nDCG@1", 0),
        ("RR@10", 1 / 2),
        ("MRR@10", 1 / 2),
        ("RR@1", 0),
        ("R@1", 0),
        ("R@2", 1 / 2),
        ("Recall@3", 1),
        ("Success@1", 0),
        ("Success@2", 1),
        ("P@3", 2 / 3),
        ("AP@10", (1 / 2 + 2 / 3) / 2),
    ],
)
def test_scores_counted_by_hand(name: str, score: float) -> None:
    assert scores_of([name], QRELS, RANKED)[name] == {"q": pytest.approx(score, abs=1e-6)}


def test_a_query_that_found_nothing_scores_nothing_and_an_unjudged_one_is_not_counted() -> None:
    qrels = {"q": {"a": 1}, "silent": {"a": 1}, "absent": {"a": 1}}
    scores = scores_of(["nDCG@10", "RR@10"], qrels, {"q": ["a"], "silent": [], "stranger": ["a"]})
    assert scores["nDCG@10"] == scores["RR@10"] == {"q": 1.0, "silent": 0.0, "absent": 0.0}


def test_two_names_of_one_measure_are_both_answered() -> None:
    scores = scores_of(["RR@10", "MRR@10"], QRELS, RANKED)
    assert scores["RR@10"] == scores["MRR@10"]


@given(st.integers(0, 999))
def test_the_order_of_a_long_ranking_survives(place: int) -> None:
    """A thousand documents with ids in no order: ranks are told apart, ties never happen."""
    ranked = [f"d{(number * 7919) % 1000}" for number in range(1000)]
    scores = scores_of(["RR@1000"], {"q": {ranked[place]: 1}}, {"q": ranked})
    assert scores["RR@1000"]["q"] == pytest.approx(1 / (place + 1), rel=1e-4)


@pytest.mark.parametrize(
    "name", ["", "quality", "nDCG", "R@0", "R@-1", "ERR@10", "nDCG@", "RR", "__import__('os')", "nDCG@10@10", "R@1.5"]
)
def test_what_is_no_metric_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="for example: nDCG@10"):
        measure_of(name)


def test_cutoffs() -> None:
    assert [cutoff_of(measure_of(name)) for name in ("nDCG@10", "Success@5", "R@100")] == [10, 5, 100]


class Letters:
    """One token a character, so that spans can be counted by hand."""

    def between(self, span: TextSpan) -> tuple[int, int]:
        return span.start, span.end


class Words:
    """Tokens are the words of one text."""

    def __init__(self, text: str) -> None:
        self.starts = [found.start() for found in re.finditer(r"\w+", text)]

    def between(self, span: TextSpan) -> tuple[int, int]:
        first, after = (sum(start < bound for start in self.starts) for bound in (span.start, span.end))
        return first, after


def scores(evidence: list[TextSpan], found: list[TextSpan], *names: str) -> list[float]:
    scored = span_scores(names, {"q": evidence}, {"q": found}, Letters())
    return [scored[name]["q"] for name in names]


def test_recall_precision_and_iou_by_hand() -> None:
    # 10 tokens of evidence; 20 retrieved, of which 5 are evidence
    evidence, found = [TextSpan("d", 0, 10)], [TextSpan("d", 5, 25)]
    assert scores(evidence, found, "TokenR@100", "TokenP@100", "TokenIoU@100", "TokenFill@100") == [
        0.5, 0.25, 5 / 25, 0.2,
    ]  # fmt: skip


def test_a_passage_that_overruns_the_budget_is_cut() -> None:
    evidence, found = [TextSpan("d", 0, 10)], [TextSpan("e", 0, 4), TextSpan("d", 5, 25)]
    assert scores(evidence, found, "TokenR@6", "TokenP@6", "TokenFill@6") == [0.2, 2 / 6, 1.0]


def test_a_token_that_lies_in_two_passages_costs_and_counts_once() -> None:
    evidence, found = [TextSpan("d", 0, 10)], [TextSpan("d", 0, 6), TextSpan("d", 3, 8), TextSpan("d", 0, 10)]
    assert scores(evidence, found, "TokenR@10", "TokenP@10", "TokenFill@10") == [1.0, 1.0, 1.0]
    assert scores(evidence, found, "TokenR@8", "TokenP@8") == [0.8, 1.0]


def test_more_than_fits_is_over() -> None:
    found = [TextSpan("d", 0, 6), TextSpan("d", 3, 8)]
    assert scores([TextSpan("d", 0, 1)], found, "TokenOver@7", "TokenOver@8") == [1.0, 0.0]


def test_evidence_that_overlaps_counts_once() -> None:
    assert scores([TextSpan("d", 0, 6), TextSpan("d", 4, 10)], [TextSpan("d", 0, 5)], "TokenR@9") == [0.5]


def test_the_same_place_in_another_document_is_no_evidence() -> None:
    assert scores([TextSpan("d", 0, 10)], [TextSpan("e", 0, 10)], "TokenR@9", "TokenIoU@9") == [0.0, 0.0]


def test_a_query_that_found_nothing_scores_nothing() -> None:
    scored = span_scores(["TokenR@9", "TokenP@9", "TokenFill@9"], {"q": [TextSpan("d", 0, 1)]}, {}, Letters())
    assert [each["q"] for each in scored.values()] == [0.0, 0.0, 0.0]


def test_tokens_are_those_that_begin_in_a_span() -> None:
    places = Words("one two three four")
    scored = span_scores(
        ["TokenR@9", "TokenFill@2"], {"q": [TextSpan("d", 0, 13)]}, {"q": [TextSpan("d", 2, 18)]}, places
    )
    assert scored["TokenR@9"]["q"] == pytest.approx(2 / 3)
    assert scored["TokenFill@2"]["q"] == 1.0


@pytest.mark.parametrize(
    "name", ["TokenR", "TokenR@0", "TokenR@x", "tokenR@5", "nDCG@10", "TokenF@5", "TokenR@12345678"]
)
def test_what_is_no_metric_is_refused_of_spans(name: str) -> None:
    with pytest.raises(ValueError, match="TokenR@3000"):
        span_measure(name)


SPANS = st.lists(
    st.builds(
        lambda document, start, length: TextSpan(document, start, start + length),
        st.sampled_from("de"),
        st.integers(0, 60),
        st.integers(1, 30),
    ),
    max_size=6,
)


def numbered(spans: list[TextSpan]) -> list[tuple[str, int]]:
    """The tokens of spans, one by one, each where it comes first."""
    return list(dict.fromkeys((span.document, token) for span in spans for token in range(span.start, span.end)))


@given(SPANS.filter(bool), SPANS, st.integers(1, 80))
def test_scores_are_those_of_sets_of_tokens(evidence: list[TextSpan], found: list[TextSpan], budget: int) -> None:
    wanted, taken = set(numbered(evidence)), set(numbered(found)[:budget])
    names = [f"{what}@{budget}" for what in ("TokenR", "TokenP", "TokenIoU", "TokenFill")]
    assert scores(evidence, found, *names) == [
        len(wanted & taken) / len(wanted),
        len(wanted & taken) / len(taken) if taken else 0.0,
        len(wanted & taken) / len(wanted | taken),
        len(taken) / budget,
    ]


@given(SPANS.filter(bool), SPANS, st.integers(1, 80), st.integers(0, 80))
def test_a_larger_budget_never_loses_evidence(
    evidence: list[TextSpan], found: list[TextSpan], small: int, more: int
) -> None:
    less, enough = scores(evidence, found, f"TokenR@{small}", f"TokenR@{small + more}") if more else (0.0, 0.0)
    assert less <= enough
