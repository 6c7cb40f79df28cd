from __future__ import annotations

import time

from anabranch.duplicates import Duplicates

WORDS = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(100)]
TEXT = " ".join(WORDS)


def test_the_same_words_are_the_same():
    known = Duplicates()
    assert known.find("a", "The ﬁrst, “big” report.") is None
    assert known.find("b", "the FIRST big\nreport") == "a"
    assert known.find("c", "the first small report") is None


def test_a_word_more_or_less_in_a_long_passage_is_the_same():
    known = Duplicates()
    assert known.find("a", TEXT) is None
    assert known.find("b", TEXT.replace("wordbb", "other")) == "a"
    assert known.find("c", " ".join(WORDS[:50])) is None


def test_the_same_words_in_another_order_are_not():
    known = Duplicates()
    assert known.find("a", TEXT) is None
    assert known.find("b", " ".join(sorted(WORDS, key=lambda word: word[::-1]))) is None


def test_other_numbers_are_another_passage():
    known = Duplicates()
    assert known.find("a", f"{TEXT} In 2020 the fee was 5 percent.") is None
    assert known.find("b", f"{TEXT} In 2021 the fee was 5 percent.") is None
    assert known.find("c", f"{TEXT} In 2021, the fee was 5 percent!") == "b"


def test_what_has_no_words_is_compared_as_it_is():
    known = Duplicates()
    assert known.find("a", "!!!") is None
    assert known.find("b", "???") is None
    assert known.find("c", "!!!") == "a"


def test_a_thousand_passages_take_no_time():
    known = Duplicates()
    started = time.process_time()
    for number in range(1000):
        known.find(str(number), " ".join(f"{word}{number % 500}" for word in WORDS))
    assert time.process_time() - started < 3.0
