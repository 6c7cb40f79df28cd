from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anabranch_readers.pdf_layout.text_lines import Line
from anabranch_readers.pdf_layout.text_rows import as_row, rows
from plugins.readers.tests.pdf_layout.build import line


def test_lines_on_one_baseline_are_a_row_from_left_to_right() -> None:
    found = rows([line("118", 300, 101), line("Gross bookings", 50, 100), line("93", 200, 99), line("next", 50, 115)])
    assert [(row.text, row.cells) for row in found] == [("Gross bookings\t93\t118", 3), ("next", 1)]


def test_a_sentence_cut_by_a_small_gap_is_no_table() -> None:
    row = as_row([line("elit.", 50, 100), line("Ut purus", 85, 100)])
    assert (row.text, row.cells) == ("elit. Ut purus", 1)


def test_the_marker_of_a_list_item_is_no_cell() -> None:
    for marker in ("•", "(a)", "12.", "–"):
        row = as_row([line(marker, 50, 100), line("Total revenue", 90, 100)])
        assert (row.text, row.cells) == (f"{marker} Total revenue", 1)


def test_arabic_rows_begin_at_the_right() -> None:
    row = as_row([line("ثانيا وأخيرا", 50, 100), line("أولا وقبل كل شيء", 300, 100)])
    assert row.text == "أولا وقبل كل شيء\tثانيا وأخيرا"


def test_a_label_of_two_lines_begins_the_row_of_its_numbers() -> None:
    found = rows([line("Issuance of stock upon", 50, 100), line("options", 50, 108), line("18,336", 300, 104)])
    assert [row.text for row in found] == ["Issuance of stock upon\t18,336", "options"]


LINES = st.lists(
    st.builds(line, st.text("ab", min_size=1, max_size=8), st.integers(0, 500), st.integers(0, 700)), max_size=30
)


@given(LINES)
def test_every_line_is_in_one_row(lines: list[Line]) -> None:
    found = rows(lines)
    assert sorted(map(repr, lines)) == sorted(repr(x) for row in found for x in row.lines)
    assert len(" ".join(row.text for row in found).split()) == len(lines)
