from collections.abc import Sequence

import pytest

from anabranch_readers.pdf_layout.line_numbers import is_entry, is_text, without_line_numbers
from anabranch_readers.pdf_layout.text_lines import Line
from plugins.readers.tests.pdf_layout.build import line, page

PROSE = "some words of plain prose that fill the line"


def numbered(step: int, x: float, count: int = 20) -> list[Line]:
    body = [line(f"{PROSE} {chr(97 + at)}", 60, 100 + 20 * at, width=400) for at in range(count)]
    counts = [line(str(at + 1), x, 102 + 20 * at, 5) for at in range(count) if (at + 1) % step == 0]
    return [*counts, *body]


def left(*pages: Sequence[Line]) -> list[list[str]]:
    read = without_line_numbers([page(at, lines) for at, lines in enumerate(pages, 1)])
    return [[line.text for line in each.lines] for each in read]


@pytest.mark.parametrize(("step", "x"), [(1, 30), (1, 500), (5, 30), (5, 500)])
def test_numbers_that_count_the_lines_in_a_margin_go(step: int, x: float) -> None:
    (kept,) = left(numbered(step, x))
    assert kept == [f"{PROSE} {chr(97 + at)}" for at in range(20)]


def test_numbers_before_the_words_go() -> None:
    (kept,) = left([line(f"{at}  {PROSE}", 60, 100 + 20 * at) for at in range(1, 26)])
    assert kept == [PROSE] * 25


def test_a_page_of_tables_loses_its_numbers_with_the_others() -> None:
    cells = [line(text, x, 100 + 20 * at) for at in range(4) for text, x in ((f"Site {at}", 60), (f"{at}5.2", 300))]
    counts = [line(str(number), 30, 102 + 20 * at, 5) for at, number in enumerate((21, 22, 24, 29))]
    found = left(numbered(1, 30), numbered(1, 30), [*counts, *cells])
    assert found[2] == [cell.text for cell in cells]
    assert left([*counts, *cells])[0][:4] == ["21", "22", "24", "29"]


def test_the_numbers_of_the_rows_of_a_table_stay() -> None:
    rows = [
        line(text, x, 100 + 20 * at)
        for at in range(20)
        for text, x in ((str(at + 1), 30), (f"company of the name {at}", 60), (f"{at},500", 300), (f"{at}.5", 400))
    ]
    assert left(rows) == [[row.text for row in rows]]


def test_the_numbers_of_entries_that_run_over_lines_stay() -> None:
    entries = [
        line(text, x, 100 + 40 * at + 20 * half, width=width)
        for at in range(12)
        for half, text, x, width in ((0, str(at + 1), 30, 8), (0, PROSE, 60, 400), (1, PROSE, 60, 380))
    ]
    assert left(entries) == [[entry.text for entry in entries]]


@pytest.mark.work(10)
def test_digits_that_end_in_a_letter_are_not_parted_in_every_way() -> None:
    assert is_entry("Herons, 12, 14–16, 207f")
    assert is_entry("Herons, " + "1, " * 5_000)
    assert not is_entry("Herons, " + "1" * 5_000 + "x")


def test_running_text() -> None:
    for text in ("some words of prose", "Entry, 12, 15", "该模板是基于某某的说明文字"):
        assert is_text(line(text, 0, 0)), text
    for text in ("1,200 5 7.5 x", "label", "two words", "= 1 + x"):
        assert not is_text(line(text, 0, 0)), text
