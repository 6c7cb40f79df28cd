from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.synthesis.near_duplicates import Duplicates

WORDS = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(100)]
TEXT = " ".join(WORDS)


def test_the_same_words_are_the_same():
    known = Duplicates()
    assert known.find("a", "The ﬁrst, “big” report.") is None
    assert known.find("b", "the FIRST big\nreport") == "a"
    assert known.find("c", "the first small report") is None


def test_a_word_more_or_less_is_another_passage():
    known = Duplicates()
    assert known.find("a", f"{TEXT} The landlord may keep a dog.") is None
    assert known.find("b", f"{TEXT} The landlord may not keep a dog.") is None
    assert known.find("c", f"{TEXT} The tenant may keep a dog.") is None
    assert known.find("d", f"{TEXT} The landlord may keep a dog or a cat.") is None
    assert known.find("e", f"*{TEXT}*\n\nThe `landlord` may keep a dog") == "a"


def test_a_part_of_a_passage_repeats_it():
    known = Duplicates()
    assert known.find("a", TEXT) is None
    assert known.find("b", " ".join(WORDS[30:60])) == "a"
    # Part of a word is no word.
    assert known.find("c", " ".join(WORDS[30:60])[1:]) is None


def test_a_few_words_repeat_only_a_passage_without_others():
    known = Duplicates()
    assert known.find("a", "Legal proceedings of the landlord: not applicable.") is None
    assert known.find("b", "Not applicable.") is None
    assert known.find("c", "not applicable") == "b"


def test_passages_that_adjoin_in_their_document_are_compared_as_one():
    parts = [" ".join(WORDS[start : start + 20]) for start in (0, 20, 40)]
    spans = [(0, 100), (100, 200), (200, 300)]
    across = " ".join(WORDS[15:35])
    for order in ([0, 1, 2], [2, 1, 0], [0, 2, 1]):
        known = Duplicates()
        for at in order:
            assert known.find(f"p{at}", parts[at], doc_id="d", start=spans[at][0], end=spans[at][1]) is None
        assert known.find("q", across, doc_id="e", start=0, end=90) == "p0"
        assert known.find("r", " ".join(WORDS[40:55]), doc_id="e", start=90, end=180) == "p2"
    apart = Duplicates()
    for at in (0, 2):
        apart.find(f"p{at}", parts[at], doc_id="d", start=spans[at][0], end=spans[at][1])
    assert apart.find("q", " ".join([*WORDS[10:20], *WORDS[40:50]]), doc_id="e") is None
    other = Duplicates()
    other.find("p0", parts[0], doc_id="d", start=0, end=100)
    other.find("p1", parts[1], doc_id="f", start=100, end=200)
    assert other.find("q", across, doc_id="e") is None


def test_other_numbers_are_another_passage():
    known = Duplicates()
    assert known.find("a", f"{TEXT} In 2020 the fee was 5 percent.") is None
    assert known.find("b", f"{TEXT} In 2021 the fee was 5 percent.") is None
    assert known.find("c", f"{TEXT} In 2021, the fee was 5 percent!") == "b"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 %", "5"),
        ("5", "-5"),
        ("(5)", "5"),
        ("$5", "€5"),
        ("5 €", "5"),
        ("< 5", "> 5"),
        ("v3.1", "v3"),
        ("1,500", "1"),
        ("C++", "C"),
        ("if (!ready)", "if (ready)"),
        ("a != b", "a = b"),
        ("export | ✓ |", "export | ✗ |"),
        ("लड़का", "लड़की"),
        ("ที่", "ท่"),
    ],
)
def test_another_sign_is_another_number(one: str, other: str) -> None:
    known = Duplicates()
    assert known.find("a", f"{TEXT} {one}") is None
    assert known.find("b", f"{TEXT} {other}") is None


@given(st.lists(st.lists(st.sampled_from("abc7"), max_size=24).map(" ".join), max_size=12))
def test_a_passage_is_dropped_only_where_its_words_stand_in_a_kept_one(texts: list[str]) -> None:
    known, kept = Duplicates(), dict[str, str]()
    for number, text in enumerate(texts):
        found = known.find(str(number), text)
        holders = [one for one, other in kept.items() if f" {text} " in f" {other} "]
        long = len(text.split()) >= 8
        assert (found is not None) == bool(holders if long else [one for one in holders if kept[one] == text])
        assert found is None or found in holders
        if found is None:
            kept[str(number)] = text


def test_what_has_no_words_is_compared_as_it_is():
    known = Duplicates()
    assert known.find("a", "!!!") is None
    assert known.find("b", "???") is None
    assert known.find("c", "!!!") == "a"


@pytest.mark.parametrize("sign", ["-", "(", "$", "!", "|", "- ", "✓"])
def test_a_long_run_of_signs_takes_no_time(sign: str) -> None:
    known = Duplicates()
    started = time.process_time()
    known.find("a", sign * 100_000)
    assert time.process_time() - started < 3.0


def test_a_thousand_passages_take_no_time():
    known = Duplicates()
    started = time.process_time()
    for number in range(1000):
        known.find(str(number), " ".join(f"{word}{number % 500}" for word in WORDS))
    assert time.process_time() - started < 3.0


def test_boilerplate_that_differs_in_a_number_takes_no_time():
    known = Duplicates()
    started = time.process_time()
    assert all(known.find(str(number), f"{TEXT} {TEXT} page {number}") is None for number in range(1000))
    assert time.process_time() - started < 3.0
