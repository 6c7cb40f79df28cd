from __future__ import annotations

import copy
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import SettingsError
from anabranch.synthesis.packing import Dropped, Limit, PackablePassage, Packed, pack


def words(text: str) -> int:
    return len(text.split())


def passage(name: str, score: float, text: str, start: int = 0, doc: str = "") -> PackablePassage:
    return PackablePassage(name, doc or name, start, start + len(text), score, words(text), text)


def layout(packed: Packed) -> list[list[str]]:
    return [[one.id for one in window] for window in packed.windows]


ABC = "alpha beta gamma"


def test_the_best_passages_come_first():
    packed = pack(
        [passage("low", 0.1, "one two three"), passage("high", 0.9, ABC), passage("mid", 0.5, "x y z")],
        budget=6,
        count=words,
    )
    assert layout(packed) == [["high", "mid"], ["low"]]


def test_a_small_passage_fills_the_hole_that_a_large_one_left():
    packed = pack(
        [passage("a", 0.9, "a b c d"), passage("b", 0.8, "e f g h"), passage("c", 0.7, "i j")], budget=6, count=words
    )
    assert layout(packed) == [["a", "c"], ["b"]]


def test_passages_of_one_source_stand_in_document_order_and_the_best_source_first():
    packed = pack(
        [
            passage("x2", 0.9, "m n", start=50, doc="x"),
            passage("y1", 0.8, "o p", start=0, doc="y"),
            passage("x1", 0.1, "q r", start=10, doc="x"),
        ],
        budget=10,
        count=words,
    )
    assert layout(packed) == [["x1", "x2", "y1"]]


def test_what_repeats_better_passages_is_dropped_and_named():
    long = " ".join(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60))
    packed = pack(
        [
            passage("b", 0.5, ABC.upper() + "."),
            passage("a", 0.9, ABC),
            passage("c", 0.4, long),
            passage("d", 0.3, long + " end"),
            passage("e", 0.2, " ".join(long.split()[20:50])),
        ],
        budget=200,
        count=words,
    )
    assert layout(packed) == [["a", "c", "d"]]
    assert [(one.id, one.reason) for one in packed.dropped] == [("b", "duplicate_of a"), ("e", "duplicate_of c")]


def test_a_passage_inside_a_better_one_is_dropped():
    parent = passage("p", 0.9, "one two three four", start=0, doc="d")
    child = passage("c", 0.5, "two three", start=4, doc="d")
    assert layout(pack([child, parent], budget=10, count=words)) == [["p"]]
    # The other way round both stay: dropping the parent would lose its other words.
    assert layout(pack([replace(child, score=1.0), parent], budget=10, count=words)) == [["p", "c"]]


def test_a_large_passage_is_cut_at_sentence_ends():
    text = "One two three. Four five six. Seven eight nine ten."
    packed = pack([passage("a", 0.9, text, start=100)], budget=6, count=words)
    assert [[one.text for one in window] for window in packed.windows] == [
        ["One two three. Four five six. "],
        ["Seven eight nine ten."],
    ]
    assert [(one.id, one.start, one.end) for window in packed.windows for one in window] == [
        ("a", 100, 130),
        ("a", 130, 151),
    ]


def test_a_large_sentence_is_cut_at_words_and_a_large_word_at_characters():
    packed = pack([passage("a", 0.9, "one two three four five")], budget=2, count=words)
    assert [window[0].text for window in packed.windows] == ["one two ", "three four ", "five"]
    letters = replace(passage("a", 0.9, "abcdefgh"), tokens=8)
    assert [window[0].text for window in pack([letters], budget=3, count=len).windows] == ["abc", "def", "gh"]


def test_what_does_not_fit_is_reported():
    packed = pack([passage("a", 0.9, "a b c"), passage("b", 0.8, "d e f")], budget=4, count=words, max_windows=1)
    assert layout(packed) == [["a"]]
    assert packed.dropped == (Dropped("b", 0, 5, "over_limit"),)
    heavy = replace(passage("c", 0.9, "x"), tokens=7)
    assert pack([heavy], budget=5, count=lambda text: 7 * len(text)).dropped == (Dropped("c", 0, 1, "over_budget"),)


def test_the_envelope_counts():
    two = [passage("a", 0.9, "a b c"), passage("b", 0.8, "d e f")]
    assert layout(pack(two, budget=6, count=words)) == [["a", "b"]]
    assert layout(pack(two, budget=6, count=words, overhead=2)) == [["a"], ["b"]]


def test_nothing_packs_to_nothing():
    assert pack([], budget=10, count=words) == Packed((), ())


@pytest.mark.parametrize(
    "settings", [{"budget": 0}, {"budget": -1}, {"budget": 5, "overhead": 5}, {"budget": 5, "max_windows": 0}]
)
def test_what_cannot_be_meant_is_refused(settings: dict[str, int]):
    with pytest.raises(SettingsError):
        pack([], count=words, **settings)


TEXTS = st.lists(st.sampled_from(["alpha", "beta.", "Gamma", "delta!", "2020", "x" * 12]), min_size=1, max_size=14).map(
    " ".join
)


@st.composite
def passages(draw: st.DrawFn) -> list[PackablePassage]:
    found = []
    for number, text in enumerate(draw(st.lists(TEXTS, max_size=8))):
        doc, start = draw(st.sampled_from(["d1", "d2"])), draw(st.integers(0, 40))
        found.append(
            PackablePassage(f"p{number}", doc, start, start + len(text), draw(st.integers(0, 5)) / 5, len(text), text)
        )
    return found


SETTINGS = st.fixed_dictionaries(
    {"budget": st.integers(6, 90), "max_windows": st.none() | st.integers(1, 3), "overhead": st.integers(0, 5)}
)


@given(passages(), SETTINGS)
def test_no_window_is_over_the_budget(given_passages, settings):
    packed = pack(given_passages, count=len, **settings)
    for window in packed.windows:
        assert window
        assert sum(len(one.text) + settings["overhead"] for one in window) <= settings["budget"]
    assert settings["max_windows"] is None or len(packed.windows) <= settings["max_windows"]


@given(passages(), SETTINGS)
def test_no_character_is_lost_silently(given_passages, settings):
    packed = pack(given_passages, count=len, **settings)
    for one in given_passages:
        spans = [(piece.start, piece.end) for window in packed.windows for piece in window if piece.id == one.id]
        spans += [(drop.start, drop.end) for drop in packed.dropped if drop.id == one.id]
        covered = [place for start, end in spans for place in range(start, end)]
        assert sorted(covered) == list(range(one.start, one.end))


@given(passages(), SETTINGS)
def test_pieces_are_verbatim(given_passages, settings):
    originals = {one.id: one for one in given_passages}
    for window in pack(given_passages, count=len, **settings).windows:
        for piece in window:
            whole = originals[piece.id]
            assert piece.text == whole.text[piece.start - whole.start : piece.end - whole.start]
            assert piece.tokens == len(piece.text)


@given(passages(), SETTINGS, st.data())
def test_the_order_of_the_passages_does_not_matter_and_they_stay(given_passages, settings, data):
    before = copy.deepcopy(given_passages)
    packed = pack(given_passages, count=len, **settings)
    assert given_passages == before
    assert pack(data.draw(st.permutations(given_passages)), count=len, **settings) == packed


@given(passages(), SETTINGS)
def test_duplicates_stand_for_something_that_is_there(given_passages, settings):
    packed = pack(given_passages, count=len, **settings)
    duplicates = {one.id for one in packed.dropped if one.reason.startswith("duplicate_of")}
    for drop in packed.dropped:
        if drop.reason.startswith("duplicate_of"):
            assert drop.reason.split()[1] not in duplicates


@given(passages(), st.integers(20, 90))
def test_the_best_passage_is_in_the_first_window(given_passages, budget):
    packed = pack(given_passages, count=len, budget=budget)
    if given_passages:
        best = max(one.score for one in given_passages)
        assert any(one.score == best for one in packed.windows[0])


def test_work_is_bounded():
    started = time.process_time()
    packed = pack([replace(passage("a", 1.0, "x" * 40_000), tokens=40_000)], budget=500, count=len)
    assert len(packed.windows) == 80
    many = [passage(str(n), n / 500, " ".join(f"w{n}x{k}" for k in range(60))) for n in range(500)]
    assert sum(map(len, pack(many, budget=2000, count=words).windows)) == 500
    assert time.process_time() - started < 3.0


def test_a_passage_larger_than_a_window_is_split_at_its_children():
    text = "One two. Three four. Five six. Seven eight."
    parent = replace(passage("p", 0.9, text, start=100), parts=(100, 109, 131))
    packed = pack([parent], budget=6, count=words)
    assert [(one.start, one.end) for window in packed.windows for one in window] == [(100, 131), (131, 143)]
    assert packed.torn == ()


def test_only_a_sentence_larger_than_a_window_is_torn_and_it_is_said():
    packed = pack(
        [passage("a", 0.9, "One two three four five six. End."), passage("b", 0.8, ABC)], budget=4, count=words
    )
    assert packed.torn == ("a",)
    assert packed.dropped == ()


def tight(passages: list[PackablePassage], budget: int, room: int) -> Packed:
    return pack(passages, budget=budget, count=len, limit=Limit(room, lambda text, tokens: 2 * tokens + 7))


@given(passages(), st.integers(6, 90), st.integers(10, 150))
def test_both_bounds_hold_and_together_with_the_drops_nothing_is_lost(given_passages, budget, room):
    packed = tight(given_passages, budget, room)
    for window in packed.windows:
        assert sum(len(piece.text) for piece in window) <= budget
        assert sum(2 * len(piece.text) + 7 for piece in window) <= room
    for one in given_passages:
        spans = [(piece.start, piece.end) for window in packed.windows for piece in window if piece.id == one.id]
        spans += [(drop.start, drop.end) for drop in packed.dropped if drop.id == one.id]
        assert sorted(place for start, end in spans for place in range(start, end)) == list(range(one.start, one.end))


def test_a_limit_without_room_is_refused():
    with pytest.raises(SettingsError):
        tight([], 5, 0)


def test_whole_documents_are_packed_as_they_come_with_their_repetitions():
    texts = ["one two three", "one two three", "four", "five six seven eight", "nine"]
    passages = [passage(f"p{n}", 1.0, text, start=100 * n, doc="d") for n, text in enumerate(texts)]
    packed = pack(passages, budget=6, count=words, in_order=True)
    assert layout(packed) == [["p0", "p1"], ["p2", "p3", "p4"]]
    assert packed.dropped == ()
