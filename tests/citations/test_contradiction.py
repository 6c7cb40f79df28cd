"""Claims that the cited words support, and claims that differ in one thing, in both directions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.contradiction import Ground, agrees, possible
from anabranch.citations.evidence_span import PassageText
from anabranch.citations.verification import verify
from tests.citations.claim_pairs import FALSE, TRUE, UNSEEN_FALSE, UNSEEN_TRUE, Pair


def _holds(pair: Pair) -> bool:
    passage = PassageText("a", pair.passage or pair.quote, pair.label)
    answer = f"{pair.claim.rstrip('.')} [1]."
    return bool(verify(answer, {1: [pair.quote]}, {1: passage}, pair.question).citations)


@pytest.mark.parametrize("pair", TRUE, ids=lambda pair: pair.claim)
def test_a_claim_in_other_words_holds(pair: Pair) -> None:
    assert _holds(pair)


@pytest.mark.parametrize("pair", FALSE, ids=lambda pair: pair.claim)
def test_a_claim_that_differs_in_one_thing_does_not(pair: Pair) -> None:
    assert not _holds(pair)


def test_pairs_that_the_checks_were_not_made_for() -> None:
    refused = [pair.claim for pair in UNSEEN_TRUE if not _holds(pair)]
    assert refused == ["You get the deposit of £2,900 back within two weeks, that is 14 days."]
    assert [pair.claim for pair in UNSEEN_FALSE if _holds(pair)] == []


@pytest.mark.parametrize("pair", [*TRUE, *UNSEEN_TRUE], ids=lambda pair: pair.claim)
def test_a_passage_never_contradicts_itself(pair: Pair) -> None:
    ground = Ground(pair.passage or pair.quote, pair.label)
    assert agrees(pair.quote, pair.quote, ground)


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=50))
def test_any_text_is_judged(claim: str, passage: str, label: str) -> None:
    ground = Ground(passage, label)
    assert agrees(claim, passage, ground) in (True, False)
    assert possible(claim, ground) in (True, False)


@pytest.mark.work(60)
@pytest.mark.parametrize("unit", ["Ida ", "12 % and ", "rose, ", "| a | 1 |\n", "not ", "two hundred "])
def test_work_is_bounded(unit: str) -> None:
    text = unit * (4_000 // len(unit))
    agrees(text[:400], text[:400], Ground(text, text[:100]))
