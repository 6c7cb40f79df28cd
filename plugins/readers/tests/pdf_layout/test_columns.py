from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch_readers.pdf_layout.columns import regions
from anabranch_readers.pdf_layout.text_lines import Line
from plugins.readers.tests.pdf_layout.build import line

WORDS = "some words of plain prose in a column"


def column(name: str, x: float, count: int = 10, top: float = 100) -> list[Line]:
    return [line(f"{name}{at} {WORDS}", x, top + 12 * at, width=200) for at in range(count)]


def order(lines: list[Line]) -> list[str]:
    return [x.text.split()[0] for region in regions(lines) for x in region]


def names(name: str, count: int = 10) -> list[str]:
    return [f"{name}{at}" for at in range(count)]


def test_two_columns_are_read_one_after_the_other() -> None:
    assert order([*column("r", 310), *column("l", 50)]) == names("l") + names("r")


@pytest.mark.parametrize("words", ["מפלס המים בנהר עלה בכל יום", "ارتفع منسوب المياه في النهر"])
def test_of_a_text_from_right_to_left_the_right_column_comes_first(words: str) -> None:
    def part(name: str, x: float, top: float = 100) -> list[Line]:
        return [line(f"{name}{at} {words}", x, top + 12 * at, width=130) for at in range(8)]

    title = line(f"title {words}", 50, 50, width=460)
    lines = [title, *part("a", 50), *part("b", 220), *part("c", 390)]
    assert order(lines) == ["title", *names("c", 8), *names("b", 8), *names("a", 8)]


def test_three_columns_are_two_cuts() -> None:
    lines = [
        line(f"{name}{at} four words here", x, 100 + 12 * at, width=150)
        for name, x in (("c", 400), ("a", 50), ("b", 225))
        for at in range(8)
    ]
    assert order(lines) == names("a", 8) + names("b", 8) + names("c", 8)


def test_what_crosses_both_columns_cuts_the_page_into_bands() -> None:
    title, figure = line("title over all of it", 50, 50, width=460), line("figure over all", 50, 250, width=460)
    lines = [*column("r", 310), *column("L", 50, top=300), figure, *column("l", 50), *column("R", 310, top=300), title]
    assert order(lines) == ["title", *names("l"), *names("r"), "figure", *names("L"), *names("R")]


def test_one_column_stays_as_it_is() -> None:
    lines = [line(f"l{at} {WORDS * 2}", 50, 100 + 12 * at, width=460) for at in range(12)]
    assert regions(lines) == [lines]


def test_a_table_is_read_across_its_gutters() -> None:
    lines = [
        line(text, x, 100 + 12 * at)
        for at in range(10)
        for text, x in ((f"label{at} of some item", 50), (f"{at},000", 300), (f"{at},500", 400))
    ]
    assert regions(lines) == [lines]


def test_nothing_is_no_region() -> None:
    assert regions([]) == []


PLACED = st.lists(
    st.builds(
        line,
        st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=8).map(" ".join),
        st.integers(0, 500),
        st.integers(0, 700),
    ),
    max_size=40,
)


@given(PLACED)
def test_no_line_is_lost_or_doubled(lines: list[Line]) -> None:
    found = regions(lines)
    assert sorted(map(repr, lines)) == sorted(repr(x) for region in found for x in region)
    assert all(found)


def test_columns_in_one_part_of_a_page_are_found_where_the_rest_has_none() -> None:
    box = [*column("r", 310, 9), *column("l", 50, 9)]
    rest = [line(f"w{at} {WORDS} {WORDS}", 50, 260 + 12 * at, width=460) for at in range(20)]
    assert order([*rest, *box]) == names("l", 9) + names("r", 9) + names("w", 20)


def test_an_index_is_read_down_its_columns() -> None:
    lines = [line(f"{name}{at}, {at + 7}", x, 100 + 12 * at) for name, x in (("b", 310), ("a", 50)) for at in range(9)]
    assert [text.rstrip(",") for text in order(lines)] == names("a", 9) + names("b", 9)


LABELS = [("Trace", 330), ("x = 1;", 350), ("Guard", 410), ("y", 330)]


def test_a_figure_in_one_column_says_nothing_against_it() -> None:
    labels = [line(text, x, 100 + 12 * at) for at, (text, x) in enumerate(LABELS)]
    title, foot = line("a title over all of it", 50, 50, width=460), line("a table over all of it", 50, 200, width=460)
    lines = [title, *column("l", 50, 8), *labels, foot, *column("L", 50, 9, 220), *column("R", 310, 9, 220)]
    assert order(lines)[:13] == ["a", *names("l", 8), *(text.split()[0] for text, _ in LABELS)]
    assert order(lines)[13:] == ["a", *names("L", 9), *names("R", 9)]


def test_code_in_one_column_says_nothing_against_it() -> None:
    code = [line(f"c{at}();", 50, 100 + 12 * at) for at in range(14)]
    lines = [*code, *column("l", 50, 8, 300), *column("r", 310, 25)]
    assert order(lines) == [*(f"c{at}();" for at in range(14)), *names("l", 8), *names("r", 25)]


def test_a_table_over_both_columns_is_read_across() -> None:
    cells = [line(text, x, 100 + 12 * at) for at in range(5) for text, x in ((f"k{at}", 100), (f"{at}.5", 400))]
    lines = [*cells, *column("l", 50, 9, 200), *column("r", 310, 9, 200)]
    assert order(lines) == [*(x.text for x in cells), *names("l", 9), *names("r", 9)]


def test_an_article_above_another_has_columns_of_its_own() -> None:
    title = line("title over all of it", 50, 250, width=460)
    above = [line(f"b{at} {WORDS}", 270, 100 + 12 * at, width=240) for at in range(10)]
    lines = [*above, *column("a", 50), title, *column("l", 50, 20, 300), *column("L", 360, 20, 300)]
    lines = [replace(x, x1=330.0) if x.text.startswith("l") else x for x in lines]
    assert order(lines) == [*names("a"), *names("b"), "title", *names("l", 20), *names("L", 20)]


def test_a_formula_that_sticks_out_of_its_column_does_not_cut_the_page() -> None:
    formula = line("f(x) = 1", 60, 160, width=205)
    lines = [*column("l", 50, 5), formula, *column("L", 50, 5, 172), *column("r", 265, 11)]
    assert order(lines) == [*names("l", 5), "f(x)", *names("L", 5), *names("r", 11)]


def test_cells_of_several_words_are_no_columns() -> None:
    words = ("one short cell here", "a cell of rather more words than that", "the third cell", "a fourth cell of it")
    cells = [
        line(f"{text} {side}", x, 100 + 30 * at)
        for at, text in enumerate(words * 2)
        for side, x in (("left", 50), ("right", 310))
    ]
    assert order(cells) == [x.text.split()[0] for x in cells]
