from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anabranch.synthesis.packing import cut
from anabranch.text.sentences import spans

TEXTS = st.lists(st.sampled_from(["Alpha beta.", "Gamma!", "delta", "Eta theta iota?", "x" * 9, "\n\n"]), max_size=20)


def _cut(text: str, inner: list[int], room: int) -> list[tuple[int, int, bool]]:
    return list(cut(text, inner, lambda piece: len(piece) <= room, longest=32 * room))


@given(TEXTS.map(" ".join), st.lists(st.integers(-5, 120), max_size=6), st.integers(1, 60))
def test_pieces_cover_the_text_and_are_small_enough(text: str, inner: list[int], room: int) -> None:
    pieces = _cut(text, inner, room)
    assert "".join(text[start:end] for start, end, _ in pieces) == text
    assert all(end - start <= room for start, end, _ in pieces)


@given(TEXTS.map(" ".join), st.lists(st.integers(0, 120), max_size=4), st.integers(1, 60))
def test_pieces_that_count_as_whole_end_where_a_sentence_or_a_part_does(text: str, inner: list[int], room: int) -> None:
    ends = {end for _, end in spans(text)} | {len(text), *inner}
    for begin, stop in zip([0, *sorted(inner)], [*sorted(inner), len(text)], strict=True):
        ends |= {min(begin, len(text)) + end for _, end in spans(text[begin:stop])}
    for start, end, whole in _cut(text, inner, room):
        assert not whole or (start in ends | {0} and end in ends)


def test_parts_come_before_sentences() -> None:
    text = "One two. Three four. Five six. Seven eight."
    at = text.index("Five")
    assert _cut(text, [at], 31) == [(0, at, True), (at, len(text), True)]
    assert _cut(text, [], 31) == [(0, 31, True), (31, len(text), True)]
    assert _cut(text, [9], 35) == [(0, 9, True), (9, len(text), True)]


def test_several_parts_share_a_piece_where_they_fit() -> None:
    text = "Aa bb. Cc dd. Ee ff. Gg hh."
    assert _cut(text, [7, 14, 21], 14) == [(0, 14, True), (14, 27, True)]


def test_a_sentence_is_cut_only_where_nothing_else_helps() -> None:
    text = "Short one. A very long sentence that nothing holds. End."
    assert next(text[a:b] for a, b, whole in _cut(text, [], 20) if whole) == "Short one. "
    assert not all(whole for _, _, whole in _cut(text, [], 20))
