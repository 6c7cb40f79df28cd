"""Whether retrieved scores are evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.retrieval.answerability import (
    SURE,
    EvidenceJudgement,
    confidence,
    judge,
    judge_either,
    term_coverage,
)

IDF = {"llama": 3.0, "token": 2.0, "weather": 6.0}


def test_rare_words_weigh_more() -> None:
    assert term_coverage(["token", "weather"], {"weather"}, IDF) > term_coverage(["token", "weather"], {"token"}, IDF)


def test_no_passage_is_no_evidence() -> None:
    assert judge(passages=[], cosine=0.9, terms=["llama"], idf=IDF).verdict == "nothing"


def test_a_near_passage_with_the_words_is_enough() -> None:
    found = judge(passages=[["llama", "token"], ["other"]], cosine=0.6, terms=["llama", "token"], idf=IDF)
    assert found.verdict == "enough"
    assert found.missing == ()


def test_words_without_nearness_and_nearness_without_words() -> None:
    assert judge(passages=[["llama"], ["other"]], cosine=0.1, terms=["llama"], idf=IDF).verdict == "enough"
    assert judge(passages=[["llama"], ["other"]], cosine=0.6, terms=["weather"], idf=IDF).verdict == "thin"


@pytest.mark.parametrize("cosine", [None, -1.0, 0.1, 0.45])
def test_passages_without_a_word_of_the_question_are_thin_evidence_and_not_none(cosine: float | None) -> None:
    judgement = judge(passages=[["x"], ["other"]], cosine=cosine, terms=["weather", "llama"], idf=IDF)
    assert judgement.verdict == "thin"
    assert judgement.missing == ("weather", "llama")


def test_without_a_cosine_words_tell_what_is_enough() -> None:
    assert judge(passages=[["llama"], ["other"]], cosine=None, terms=["llama"], idf=IDF).verdict == "enough"
    assert judge(passages=[], cosine=None, terms=["weather"], idf=IDF).verdict == "nothing"


def test_a_question_of_stop_words_alone_is_neither_covered_nor_not() -> None:
    assert judge(passages=[["llama"]], cosine=0.05, terms=[], idf=IDF).verdict != "enough"
    assert judge(passages=[["llama"]], cosine=0.8, terms=[], idf=IDF).verdict == "enough"
    assert not any("words" in reason for reason in judge(passages=[["llama"]], cosine=0.8, terms=[], idf=IDF).reasons)


def test_the_verdict_follows_the_confidence_and_says_it() -> None:
    judgement = judge(passages=[["llama"]], cosine=0.4, terms=["llama", "weather"], idf=IDF)
    assert judgement.confidence == confidence(cosine=0.4, covered=judgement.covered)
    assert f"confidence {judgement.confidence:.2f}" in judgement.reasons
    assert 0 < SURE < 1


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1))
def test_more_evidence_never_lowers_the_confidence(near: float, nearer: float, some: float, more: float) -> None:
    near, nearer, some, more = *sorted((near, nearer)), *sorted((some, more))
    assert 0 <= confidence(cosine=near, covered=some) <= confidence(cosine=nearer, covered=more) <= 1
    assert confidence(cosine=None, covered=some) <= confidence(cosine=None, covered=more)


@given(st.lists(st.sampled_from(["a", "b", "c", "llama"])), st.sets(st.sampled_from(["a", "b", "c", "llama"])))
def test_more_words_found_never_lower_the_coverage(terms: list[str], found: set[str]) -> None:
    share = term_coverage(terms, found, IDF)
    assert 0 <= share <= 1
    assert term_coverage(terms, found | {"a"}, IDF) >= share


def test_words_scattered_over_passages_are_not_evidence() -> None:
    terms = ["llama", "weather", "token"]
    together = judge(passages=[terms, ["x"]], cosine=0.2, terms=terms, idf=IDF)
    scattered = judge(passages=[["llama"], ["weather"], ["token"]], cosine=0.2, terms=terms, idf=IDF)
    assert together.verdict == "enough"
    assert scattered.verdict != "enough"
    assert scattered.missing == ()


def _sure(confidence: float) -> EvidenceJudgement:
    return EvidenceJudgement("enough" if confidence >= SURE else "thin", (), (), confidence, 0.5)


def test_a_question_that_may_be_meant_in_two_ways_needs_evidence_of_its_own() -> None:
    assert judge_either(_sure(0.9), _sure(0.1)) == _sure(0.9)
    assert judge_either(_sure(0.2), _sure(0.8)).confidence == pytest.approx(0.5)
    assert judge_either(_sure(0.2), _sure(0.8)).verdict == "enough"
    assert judge_either(_sure(0.01), _sure(0.8)).verdict == "thin"
    nothing = judge(passages=[], cosine=None, terms=["llama"], idf=IDF)
    assert judge_either(nothing, nothing) == nothing


def test_a_light_word_counts_where_it_is_found_and_is_not_missed() -> None:
    asked = ["llama", "get"]
    assert term_coverage(asked, {"llama"}, IDF, {"get"}) == 1.0
    assert term_coverage(asked, {"get"}, IDF, {"get"}) < 1.0
    assert term_coverage(["get"], {"llama"}, IDF, {"get"}) == 0.0
    found = judge(passages=[["llama"], ["get"]], cosine=0.5, terms=asked, idf=IDF, light={"get"})
    assert (found.covered, found.missing) == (1.0, ())
