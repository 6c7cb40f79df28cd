"""Patterns with wildcards: what they find, that quotes are verbatim, and that time grows with the text alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import QuestionError
from anabranch.retrieval.wildcards import LONGEST, MAX_PATTERN, Wildcards, fold


@pytest.mark.parametrize(
    ("pattern", "text", "quote"),
    [
        ("spare key", "Who has the  Spare\nKEY? Jo.", "Who has the  Spare\nKEY? Jo."),
        ("spare*jo", "The spare key is with Jo.", "The spare key is with Jo."),
        ("spare * key", "the spare key", "the spare key"),
        ("STRASSE", "In der Straße 4", "In der Straße 4"),
        ("a.c", "abc", ""),
        ("a.c", "a.c", "a.c"),
        ("key*spare", "the spare key", ""),
        ("aba*aba", "abaaba", "abaaba"),
        ("aba*aba", "ababa", ""),
    ],
)
def test_what_a_pattern_finds(pattern: str, text: str, quote: str) -> None:
    assert Wildcards.parse(pattern).quote_in(text) == quote


PIECE = st.text("ab Aß\n", max_size=12)


@given(st.lists(PIECE, min_size=1, max_size=4), st.lists(PIECE, max_size=4))
def test_it_finds_what_a_regular_expression_finds(parts: list[str], texts: list[str]) -> None:
    text = "".join(texts)
    found = [fold(part) for part in parts if part.strip()]
    if not found:
        with pytest.raises(QuestionError, match="nothing to look for"):
            Wildcards.parse("*".join(parts))
        return
    expected = re.search(".*".join(map(re.escape, found)), fold(text))
    quote = Wildcards.parse("*".join(parts)).quote_in(text)
    assert bool(quote) == bool(expected)
    assert quote in text


def test_a_quote_is_short_and_has_whole_words() -> None:
    text = "word " * 500 + "needle in " + "hay " * 500 + "stack"
    quote = Wildcards.parse("needle * stack").quote_in(text)
    assert quote.startswith("word word")
    assert "needle in hay" in quote
    assert len(quote) <= LONGEST
    assert quote in text
    near = Wildcards.parse("needle").quote_in(text)
    assert set(near.split()) == {"word", "needle", "in", "hay"}


@pytest.mark.parametrize("pattern", ["", "  ", "*", "* *", "\u200b", 7, None])
def test_no_pattern_is_refused(pattern: object) -> None:
    with pytest.raises(QuestionError):
        Wildcards.parse(pattern)  # type: ignore[arg-type]


def test_a_long_pattern_is_refused() -> None:
    assert Wildcards.parse("a" * MAX_PATTERN).parts
    with pytest.raises(QuestionError, match="201 characters; 200 is the most"):
        Wildcards.parse("a" * (MAX_PATTERN + 1))


# A backtracking search would need 10^100 steps for the first, and the naive search of a substring 10^10 for the second.
@pytest.mark.work(20)
@pytest.mark.parametrize("pattern", ["a*" * 99 + "b", "a" * 100 + "b" + "a" * 99, "ab*" * 60 + "c"])
def test_a_hostile_pattern_takes_linear_time(pattern: str) -> None:
    assert Wildcards.parse(pattern).quote_in("a" * 5_000_000) == ""
    assert Wildcards.parse(pattern).quote_in("a " * 2_500_000) == ""
