from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch_evaluation.token_metrics import TextSpan, span_measure, span_scores


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


def test_a_ranking_is_read_no_further_than_the_largest_budget() -> None:
    """A ranking of thousands is compared pair by pair."""
    asked = 0

    class Counted(Letters):
        def between(self, span: TextSpan) -> tuple[int, int]:
            nonlocal asked
            asked += 1
            return super().between(span)

    found = {"q": [TextSpan("d", place, place + 10) for place in range(0, 50_000, 10)]}
    scored = span_scores(["TokenR@100", "TokenOver@200"], {"q": [TextSpan("d", 95, 105)]}, found, Counted())
    assert scored == {"TokenR@100": {"q": 0.5}, "TokenOver@200": {"q": 1.0}}
    assert asked == 1 + 21


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
