import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.readers.dehyphenation import join, join_all, vocabulary

WORDS = vocabulary(
    ["The state-of-the-art retrieval is high-dimensional", "well known numbers; the sometimes over- and under-"]
)


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [
        ("two", "lines", "two lines"),
        ("", "start", "start"),
        ("a retrie-", "val run", "a retrieval run"),
        ("an imple-", "mentation", "an implementation"),
        ("a high-", "dimensional space", "a high-dimensional space"),
        ("a well-", "known fact", "a well-known fact"),
        ("for some-", "times it", "for sometimes it"),
        ("a d-", "dimensional vector", "a d-dimensional vector"),
        ("the pre-", "and post-war years", "the pre- and post-war years"),
        ("UTF-", "8 bytes", "UTF-8 bytes"),
        ("Jean-", "Paul said", "Jean-Paul said"),
        ("exam\u00ad", "ple", "example"),
        ("unsought—", "frequently", "unsought—frequently"),
        ("a pause —", "and on", "a pause — and on"),
        ("すべての", "人間は", "すべての人間は"),
        ("すべての", "Menschen", "すべての Menschen"),
    ],
)
def test_lines_join(left: str, right: str, joined: str) -> None:
    assert join(left, right, WORDS) == joined


def test_in_doubt_the_hyphen_may_be_kept() -> None:
    assert join("a garden-", "party", frozenset()) == "a gardenparty"
    assert join("a garden-", "party", frozenset(), "keep") == "a garden-party"
    assert join("a retrie-", "val", WORDS, "keep") == "a retrieval"


def test_a_word_cut_by_a_line_end_is_not_in_the_vocabulary() -> None:
    assert vocabulary(["an imple-", "mentation of State-of-the-art"]) == {"an", "mentation", "of", "state-of-the-art"}


@given(st.lists(st.from_regex(r"[abす]{1,3} [abす]{1,3}[-—]?", fullmatch=True), max_size=8))
def test_joining_all_is_joining_one_after_the_other(lines: list[str]) -> None:
    text = ""
    for line in lines:
        text = join(text, line, WORDS)
    assert join_all(lines, WORDS) == text


@pytest.mark.work(60)  # quadratic work would take many minutes here
def test_time_is_linear() -> None:
    assert len(join_all(["x" * 70] * 100_000, frozenset())) == 71 * 100_000 - 1
    assert join("x" * 5_000_000 + "-", "y", frozenset())
