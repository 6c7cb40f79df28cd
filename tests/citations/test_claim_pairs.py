"""Claims that the cited words support, and claims that differ in one thing: which of them are accepted."""

from __future__ import annotations

import pytest

from anabranch.citations.evidence_span import PassageText
from anabranch.citations.verification import verify
from tests.citations.claim_pairs import FALSE, MISSED, REFUSED, TRUE, Pair


def _holds(pair: Pair) -> bool:
    passage = PassageText("a", pair.passage or pair.quote, pair.label)
    return bool(verify(f"{pair.claim.rstrip('.')} [1].", {1: [pair.quote]}, {1: passage}).citations)


@pytest.mark.parametrize("pair", TRUE, ids=lambda pair: pair.claim)
def test_a_claim_in_other_words_holds(pair: Pair) -> None:
    assert _holds(pair)


@pytest.mark.parametrize("pair", FALSE, ids=lambda pair: pair.claim)
def test_a_claim_whose_numbers_or_words_are_not_there_does_not(pair: Pair) -> None:
    assert not _holds(pair)


@pytest.mark.parametrize("pair", REFUSED, ids=lambda pair: pair.claim)
def test_what_is_refused_although_it_is_true(pair: Pair) -> None:
    assert not _holds(pair)


@pytest.mark.parametrize("kind", MISSED)
def test_what_the_check_says_it_does_not_see(kind: str) -> None:
    assert [pair.claim for pair in MISSED[kind] if not _holds(pair)] == []
