import pytest

from anabranch.corpus.reading.joining import join, vocabulary

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
