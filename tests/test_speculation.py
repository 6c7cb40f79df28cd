"""Whether a draft stands on the final evidence: what must hold however the evidence is cut, ordered and numbered."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anabranch.claims import markers
from anabranch.speculation import Shown, judge_draft, merged_quotes, renumbered, share_read

TEXT = "".join(f"Paragraph {number:03} tells of the year {1500 + number} in full. " for number in range(40))
LENGTH = len(TEXT)


def shown(number: int, start: int, end: int, doc_id: str = "d", weight: float = 1.0) -> Shown:
    return Shown(number, doc_id, start, end, TEXT[start:end], weight)


@st.composite
def pieces(draw: st.DrawFn, least: int = 0) -> list[Shown]:
    spans = draw(
        st.lists(
            st.tuples(st.sampled_from("de"), st.integers(0, LENGTH - 40), st.integers(1, 400), st.floats(0, 1)),
            min_size=least,
            max_size=8,
        )
    )
    return [
        shown(number, start, min(start + length, LENGTH), doc_id, weight)
        for number, (doc_id, start, length, weight) in enumerate(spans, start=1)
    ]


@given(pieces(), pieces(), pieces())
def test_a_share_is_from_0_to_1_and_grows_with_what_was_read(
    final: list[Shown], read: list[Shown], more: list[Shown]
) -> None:
    less = share_read(final, read)
    assert 0 <= less <= share_read(final, [*read, *more]) + 1e-9
    assert share_read(final, [*read, *more]) <= 1


@given(pieces(least=1))
def test_all_was_read_and_nothing_was(final: list[Shown]) -> None:
    assert share_read(final, final) == pytest.approx(1)
    assert share_read(final, []) == 0
    assert share_read(final, [replace(piece, doc_id="elsewhere") for piece in final]) == 0
    assert share_read([], final) == 0


@given(pieces(least=1), pieces(least=1), st.floats(0.1, 0.9))
def test_it_does_not_matter_how_what_was_read_is_cut(final: list[Shown], read: list[Shown], at: float) -> None:
    halves = []
    for piece in read:
        middle = piece.start + int((piece.end - piece.start) * at)
        halves += [replace(piece, end=middle), replace(piece, start=middle)]
    assert share_read(final, halves) == pytest.approx(share_read(final, read))


def test_what_counts_for_more_is_worth_more() -> None:
    final = [shown(1, 0, 100, weight=0.9), shown(2, 500, 900, weight=0.1)]
    assert share_read(final, [shown(1, 0, 100)]) == pytest.approx(0.9)
    assert share_read(final, [shown(1, 0, 50)]) == pytest.approx(0.45)


def test_without_any_score_each_piece_counts_the_same() -> None:
    final = [shown(1, 0, 100, weight=0), shown(2, 500, 900, weight=0)]
    assert share_read(final, [shown(1, 0, 100)]) == pytest.approx(0.5)


@given(pieces(least=1), st.randoms(use_true_random=False), st.data())
def test_on_the_same_evidence_in_another_order_a_draft_is_kept_and_cites_the_same_words(
    read: list[Shown], chance: random.Random, data: st.DataObject
) -> None:
    assume(len({(piece.doc_id, piece.start, piece.end) for piece in read}) == len(read))
    order = list(range(1, len(read) + 1))
    chance.shuffle(order)
    final = [replace(piece, number=number) for piece, number in zip(read, order, strict=True)]
    cited = data.draw(st.lists(st.sampled_from(read), min_size=1, max_size=5))
    answer = " ".join(f"It is so [{piece.number}]." for piece in cited)
    verdict = judge_draft(answer, {}, read, final)
    assert verdict.why == ""
    assert verdict.share == pytest.approx(1)
    now = {piece.number: piece for piece in final}
    for piece in cited:
        held = now[verdict.numbers[piece.number]]
        assert held.doc_id == piece.doc_id
        assert held.start <= piece.start < piece.end <= held.end
    said = renumbered(answer, verdict.numbers)
    assert [m.numbers for m in markers(said)] == [(verdict.numbers[piece.number],) for piece in cited]


QUOTE = "Paragraph 003 tells of the year 1503 in full."
AT = TEXT.index(QUOTE)


def test_the_words_of_a_quote_are_enough_where_the_passage_is_cut_differently() -> None:
    read = [shown(1, AT - 60, AT + 200), shown(2, AT + 300, AT + 1200)]
    final = [shown(1, AT + 210, AT + 1200), shown(2, AT, AT + 210)]
    verdict = judge_draft("So it was [1].", {1: [QUOTE]}, read, final)
    assert verdict.why == ""
    assert verdict.numbers == {1: 2}
    assert "not in the final evidence" in judge_draft("So it was [1].", {}, read, final).why


def test_a_quote_that_is_gone_is_no_answer_however_much_was_read() -> None:
    read = [shown(1, AT, AT + 50), shown(2, 400, 2000, doc_id="e")]
    final = [shown(1, 400, 2000, doc_id="e")]
    assert "[1] is not in the final evidence" in judge_draft("So it was [1].", {1: [QUOTE]}, read, final).why
    assert judge_draft("So it was [2].", {}, read, final).numbers == {2: 1}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("So it was.", "cites nothing"),
        ("So it was [?].", "cites nothing"),
        ("So it was [1] and [9].", "[9], which it was not shown"),
        ("So it was [1-3].", "[3], which it was not shown"),
        ("So it was [0].", "[0], which it was not shown"),
    ],
)
def test_a_draft_that_cites_nothing_or_what_is_not_there_is_not_kept(answer: str, why: str) -> None:
    both = [shown(1, 0, 100), shown(2, 200, 300)]
    assert why in judge_draft(answer, {}, both, both).why


def test_a_draft_that_read_too_little_is_not_kept() -> None:
    read, final = [shown(1, 0, 100)], [shown(1, 0, 100), shown(2, 500, 600)]
    assert "0.50 of the final evidence; 0.6 is the least" in judge_draft("Yes [1].", {}, read, final, threshold=0.6).why
    assert judge_draft("Yes [1].", {}, read, final, threshold=0.5).why == ""


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        ("A [1]. B [2].", "A [2]. B [1]."),
        ("A [1, 2].", "A [2][1]."),
        ("A [1-3]!", "A [2][1][7]!"),
        ("A 【3†source】.", "A [7]."),
        ("A [?]. In [2020] and [4].", "A [?]. In [2020] and [4]."),
        ("Nothing.", "Nothing."),
    ],
)
def test_all_numbers_change_at_once(answer: str, after: str) -> None:
    assert renumbered(answer, {1: 2, 2: 1, 3: 7}) == after


def test_quotes_of_pieces_that_became_one_are_joined() -> None:
    quotes = {1: ["a"], 2: ["b"], 3: ["c"]}
    assert merged_quotes(quotes, {1: 4, 2: 4}) == {4: ["a", "b"]}
    assert quotes == {1: ["a"], 2: ["b"], 3: ["c"]}
