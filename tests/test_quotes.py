from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anabranch.quotes import MAX_GAP, find_quote, is_telling, nearest

PASSAGE = (
    "In 2021, Lyft’s “Total Revenue” was $3.2 billion—an increase of 36% com-\npared to the prior year.\n\n"
    "The ﬁrst-class café served 15 million\u00a0riders; see note 3.5 million. **Bold** claims_here.\n"
    "| Year | Riders |\n| 2020 | 1,234 |\n• in\u00adsured\u200b drivers\n東京は日本の首都です。"
)


@pytest.mark.parametrize(
    ("quote", "original"),
    [
        ("Total Revenue” was $3.2 billion", "Total Revenue” was $3.2 billion"),
        ("TOTAL REVENUE WAS $3.2 BILLION", "Total Revenue” was $3.2 billion"),
        ("\"Lyft's 'Total Revenue'\"", "Lyft’s “Total Revenue"),
        ("“an increase of 36%”", "an increase of 36%"),
        ("an increase of 36% compared to the prior year.", "an increase of 36% com-\npared to the prior year"),
        ("$3.2 billion - an increase", "$3.2 billion—an increase"),
        ("the first class cafe", "The ﬁrst-class café"),
        ("The first-class cafe\u0301 served", "The ﬁrst-class café served"),
        ("served   15 million\nriders", "served 15 million\u00a0riders"),
        ("bold claims here", "Bold** claims_here"),
        ("year riders 2020 1,234", "Year | Riders |\n| 2020 | 1,234"),
        ("insured drivers", "in\u00adsured\u200b drivers"),
        ("日本の首都", "日本の首都"),
        ("(… an increase of 36% …)", "an increase of 36%"),
        ("Total Revenue ... increase of 36%", "Total Revenue” was $3.2 billion—an increase of 36%"),
        (
            "Total Revenue […] prior year",
            "Total Revenue” was $3.2 billion—an increase of 36% com-\npared to the prior year",
        ),
    ],
)
def test_a_copy_is_found_and_shown_as_it_stands(quote: str, original: str):
    span = find_quote(quote, PASSAGE)
    assert span is not None
    assert PASSAGE[span[0] : span[1]] == original


@pytest.mark.parametrize(
    "quote",
    [
        "total revenue was $3.3 billion",
        "total revenue was $3",  # $3.2 goes on
        "5 million riders",  # 15 million
        "note 3",
        "5 million. Bold claims",  # 3.5 million
        "otal revenue was",
        "increase of 36% comp",
        "prior year ... total revenue",  # the other way round
        "increase of 3 6%",
        "Lyft and Uber revenue",
        "revenue",
        "in the",
        "the",
        "2",
        "",
        "...",
        "“”",
    ],
)
def test_what_is_not_there_or_says_nothing_is_not_found(quote: str):
    assert find_quote(quote, PASSAGE) is None


def test_an_ellipsis_leaves_out_no_more_than_a_page():
    assert find_quote("alpha beta ... gamma delta", "alpha beta " + "x " * 300 + "gamma delta") is not None
    assert find_quote("alpha beta ... gamma delta", "alpha beta " + "x " * MAX_GAP + "gamma delta") is None
    near = "alpha beta " + "x " * MAX_GAP + "alpha beta, gamma delta"
    assert find_quote("alpha beta ... gamma delta", near) == (near.rindex("alpha"), len(near))


def test_a_quote_needs_two_content_words_or_a_number():
    assert is_telling("total revenue")
    assert is_telling("36%")
    assert is_telling("1,234")
    assert not is_telling("the revenue")
    assert not is_telling("of it and 7")


def test_the_nearest_sentence_is_offered_for_a_paraphrase():
    likeness, (start, end) = nearest("the café served fifteen million riders", PASSAGE)
    assert likeness > 0.5
    assert "café served 15 million" in PASSAGE[start:end]
    assert PASSAGE[start:end] == PASSAGE[start:end].strip()
    assert nearest("quantum chromodynamics", PASSAGE) == (0.0, (0, 0))


WORDS = st.sampled_from(
    ["revenue", "Café", "was", "3.5", "1,200", "ﬁne", "well-known", "(old)", "it’s", "rose.", "über"]
)


@given(st.lists(WORDS, min_size=3, max_size=20), st.data())
def test_any_run_of_words_is_found_however_it_is_copied(words: list[str], data: st.DataObject):
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    separator = data.draw(st.sampled_from([" ", "\n", "  ", "\u00a0"]))
    quote = data.draw(
        st.sampled_from([str, str.upper, lambda text: unicodedata.normalize("NFKD", text), lambda text: f'"{text}"'])
    )(separator.join(words[start:end]))
    assume(is_telling(quote))
    passage = " ".join(words)
    span = find_quote(quote, passage)
    assert span is not None
    assert 0 <= span[0] < span[1] <= len(passage)


@given(st.text(), st.text())
def test_any_text_is_looked_up(quote: str, passage: str):
    for hay in (passage, passage + quote):
        span = find_quote(quote, hay)
        assert span is None or 0 <= span[0] < span[1] <= len(hay)
        likeness, (start, end) = nearest(quote, hay)
        assert 0 <= likeness <= 1
        assert 0 <= start <= end <= len(hay)


@pytest.mark.parametrize("piece", ["a ", "aa", "... ", "Some words, and then some. ", "1 ", "文"])
def test_work_is_bounded(piece: str):
    passage = piece * (8000 // len(piece))
    started = time.process_time()
    for quote in (piece * 20 + "zz yy", "aa bb ... " * 20, piece * 50, passage):
        find_quote(quote, passage)
        nearest(quote, passage)
    assert time.process_time() - started < 1.5
