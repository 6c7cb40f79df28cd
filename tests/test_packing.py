"""Packing: never over budget, nothing lost silently, reading order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import SettingsError
from anabranch.packing import Passage, pack


def _count(text: str) -> int:
    return len(text.split())


def _passage(number: int, text: str, *, doc: str = "d", score: float = 1.0, start: int | None = None) -> Passage:
    begin = number * 10_000 if start is None else start
    return Passage(f"p{number}", doc, begin, begin + len(text), score, _count(text), text)


@st.composite
def _passages(draw: st.DrawFn) -> list[Passage]:
    words = st.sampled_from("river weir mill flood gauge barrier meadow stone salmon wheel. town! year? 1897".split())
    texts = draw(st.lists(st.lists(words, min_size=1, max_size=40).map(" ".join), max_size=12))
    return [
        _passage(n, text, doc=draw(st.sampled_from("abc")), score=draw(st.floats(0, 1))) for n, text in enumerate(texts)
    ]


@given(_passages(), st.integers(1, 50))
def test_no_window_is_over_budget_and_nothing_is_lost_silently(passages: list[Passage], budget: int) -> None:
    packed = pack(passages, budget=budget, count=_count)
    for window in packed.windows:
        assert window
        assert sum(_count(piece.text) for piece in window) <= budget
    dropped = {item.id for item in packed.dropped}
    assert all(item.reason.startswith("duplicate of p") for item in packed.dropped)
    for passage in passages:
        pieces = sorted(
            (piece for window in packed.windows for piece in window if piece.id == passage.id), key=lambda p: p.start
        )
        if passage.id in dropped:
            assert not pieces
        else:
            assert "".join(piece.text for piece in pieces) == passage.text
            assert all(passage.text[p.start - passage.start : p.end - passage.start] == p.text for p in pieces)


@given(_passages(), st.integers(1, 50), st.randoms())
def test_the_order_of_the_input_does_not_matter(passages: list[Passage], budget: int, random: object) -> None:
    shuffled = list(passages)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert pack(passages, budget=budget, count=_count) == pack(shuffled, budget=budget, count=_count)


@given(_passages(), st.integers(1, 50), st.integers(1, 3))
def test_a_limit_of_windows_is_kept_and_what_falls_out_is_said(passages: list[Passage], budget: int, most: int) -> None:
    packed = pack(passages, budget=budget, count=_count, max_windows=most)
    everything = pack(passages, budget=budget, count=_count)
    assert packed.windows == everything.windows[:most]
    lost = sum(len(window) for window in everything.windows[most:])
    assert sum(item.reason == "over the limit of windows" for item in packed.dropped) == lost


def test_reading_order_within_a_source_and_best_source_first() -> None:
    passages = [
        _passage(1, "late words here", doc="a", score=0.9, start=500),
        _passage(2, "early words there", doc="a", score=0.2, start=0),
        _passage(3, "another source entirely", doc="b", score=0.5, start=0),
    ]
    (window,) = pack(passages, budget=100, count=_count).windows
    assert [piece.id for piece in window] == ["p2", "p1", "p3"]


def test_the_best_passages_come_in_the_first_window() -> None:
    passages = [_passage(n, f"words number {n} of several", score=n / 10) for n in range(10)]
    windows = pack(passages, budget=10, count=_count).windows
    assert {piece.id for piece in windows[0]} == {"p9", "p8"}


def test_near_duplicates_are_dropped_whichever_document_they_come_from() -> None:
    text = " ".join(f"word{n}" for n in range(60))
    packed = pack(
        [_passage(1, text, doc="a", score=0.4), _passage(2, text + " more", doc="b", score=0.6)],
        budget=500,
        count=_count,
    )
    assert [piece.id for window in packed.windows for piece in window] == ["p2"]
    assert packed.dropped[0].reason == "duplicate of p2"


def test_a_long_passage_is_cut_between_sentences() -> None:
    text = "One two three four. Five six seven eight. Nine ten eleven twelve."
    packed = pack([_passage(1, text)], budget=8, count=_count)
    pieces = [piece.text.strip() for window in packed.windows for piece in window]
    assert pieces == ["One two three four. Five six seven eight.", "Nine ten eleven twelve."]


@pytest.mark.parametrize(("budget", "most"), [(0, None), (-1, None), (5, 0)])
def test_a_window_of_nothing_is_refused(budget: int, most: int | None) -> None:
    with pytest.raises(SettingsError, match="window"):
        pack([], budget=budget, count=_count, max_windows=most)
