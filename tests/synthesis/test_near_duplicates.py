from __future__ import annotations

import re
import time

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


@given(
    st.lists(st.lists(st.sampled_from("abcd7"), max_size=40).map(" ".join), max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 40), st.sampled_from("abcde79")), max_size=12),
    st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
)
def test_no_passage_that_is_alike_is_overlooked(
    texts: list[str], changes: list[tuple[int, int, str]], likeness: float
) -> None:
    for which, place, word in changes:
        if texts:
            words = texts[which % len(texts)].split()
            texts.append(" ".join([*words[:place], word, *words[place:]]))
    known, kept = Duplicates(likeness), list[int]()
    for number, text in enumerate(texts):
        found = known.find(str(number), text)
        near = {one: jaccard(texts[one], text) for one in kept}
        if text.split():
            best = max(near.values(), default=0.0)
            assert found == next((str(one) for one in kept if near[one] == best >= likeness), None)
        if found is None:
            kept.append(number)


def jaccard(one: str, other: str) -> float:
    def shingles(text: str) -> set[tuple[str, ...]]:
        words = text.split()
        return {tuple(words[at : at + 3]) for at in range(max(len(words) - 2, 1))}

    if sorted(re.findall("[0-9]", one)) != sorted(re.findall("[0-9]", other)):
        return 0.0
    return len(shingles(one) & shingles(other)) / len(shingles(one) | shingles(other))


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


def test_boilerplate_that_differs_in_a_number_takes_no_time():
    known = Duplicates()
    started = time.process_time()
    assert all(known.find(str(number), f"{TEXT} {TEXT} page {number}") is None for number in range(1000))
    assert time.process_time() - started < 3.0
