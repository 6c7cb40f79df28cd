"""Boxes of a quote: at its words, on both sides of a page break, and nowhere rather than at a wrong place."""

from __future__ import annotations

import random

import pytest

from anabranch.readers.mupdf import PdfWord, open_pdf
from anabranch.readers.mupdf import words as words_of
from anabranch_server.quote_boxes import boxes_of
from tests.readers.bitmap_font import bitmap_pdf


def page(*lines: str) -> list[PdfWord]:
    """Return the words of a page, each ten points wide, a line every twenty points."""
    return [
        (10.0 * at, 20.0 * row, 10.0 * at + 10, 20.0 * row + 12, word, 0, row, at)
        for row, line in enumerate(lines)
        for at, word in enumerate(line.split())
    ]


def test_a_quote_has_a_box_for_each_of_its_lines() -> None:
    words = page("one two three", "four five six")
    assert boxes_of([words], "", "three four five", "") == [[(20, 0, 30, 12), (0, 20, 20, 32)]]


def test_spelling_and_hyphens_do_not_hide_it() -> None:
    words = page("The ﬁsh lad-", "der has “14” Stufen, größer")
    assert boxes_of([words], "", "The fish ladder has “14”", "")[0] == [(0, 0, 30, 12), (0, 20, 30, 32)]
    assert boxes_of([words], "Stufen, ", "GRÖSSER", "")[0] == [(40, 20, 50, 32)]


def test_ligatures_that_a_pdf_has_as_codes_are_marked_with_their_words() -> None:
    with open_pdf(bitmap_pdf([b"no e\x1bect", b"a signi\x1ccant di\x1berence"])) as pdf:
        words = words_of(pdf[0])
    (box,) = boxes_of([words], "no effect a ", "significant", " difference")[0]
    assert box == pytest.approx((48, 54, 98, 64), abs=0.1)


def test_over_a_page_break_both_pages_are_marked() -> None:
    found = boxes_of([page("ends with this"), page("and goes on")], "", "this and goes", "")
    assert found == [[(20, 0, 30, 12)], [(0, 0, 20, 12)]]


def test_the_same_words_twice_are_told_apart_by_what_stands_around_them() -> None:
    words = page("in May the gate is open", "in June the gate is shut", "in July the gate is open")
    assert boxes_of([words], "is shut in July ", "the gate is open", "")[0] == [(20, 40, 60, 52)]
    assert boxes_of([words], "", "the gate is open", " in June the gate")[0] == [(20, 0, 60, 12)]


def test_what_cannot_be_told_apart_is_not_marked() -> None:
    words = page("the gate is open", "the gate is open")
    assert boxes_of([words], "", "the gate is open", "") == [[]]


def test_a_few_letters_are_not_found_within_other_words() -> None:
    assert boxes_of([page("it is 112 metres long")], "", "12 metres", "") == [[]]
    assert boxes_of([page("it is 12 metreslong")], "", "12 metres", "") == [[]]


def test_a_few_letters_alone_are_marked_only_where_their_surroundings_agree() -> None:
    words = page("the pump weighs 12 kg and the drum is of steel")
    assert boxes_of([words], "the motor has a mass of ", "12 kg", " without its foot") == [[]]
    assert boxes_of([words], "the pump weighs ", "12 kg", " and the drum")[0] == [(30, 0, 50, 12)]


def test_nothing_is_found_for_nothing() -> None:
    assert boxes_of([page("one two")], "", "", "") == [[]]
    assert boxes_of([page("one two")], "", "…", "") == [[]]
    assert boxes_of([[]], "", "one", "") == [[]]
    assert boxes_of([page("one two")], "", "three", "") == [[]]


def test_a_scan_without_words_and_other_scripts() -> None:
    assert boxes_of([page("Плотина построена в 1848 году")], "", "построена в 1848", " году")[0] == [(10, 0, 40, 12)]
    assert boxes_of([page("堰は1848年に 建てられた。")], "", "堰は1848年に建てられた", "。")[0] == [(0, 0, 20, 12)]


def test_every_stretch_of_a_long_page_is_found_where_it_stands() -> None:
    source = random.Random(5)
    words = [f"w{source.randrange(400)}" for _ in range(2000)]
    lines = [" ".join(words[at : at + 10]) for at in range(0, 2000, 10)]
    for _ in range(40):
        start = source.randrange(20, 1900)
        end = start + source.randrange(6, 30)
        before, quote, after = (" ".join(part) for part in (words[:start], words[start:end], words[end:]))
        (boxes,) = boxes_of([page(*lines)], before, quote, after)
        assert boxes[0][:2] == (10.0 * (start % 10), 20.0 * (start // 10))
        assert boxes[-1][2] == 10.0 * ((end - 1) % 10) + 10
