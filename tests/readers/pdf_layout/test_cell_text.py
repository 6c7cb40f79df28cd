import pytest

from anabranch.readers.pdf_layout.cell_text import by_baseline, cut, has_several_rows, is_number, says_enough, text_of
from anabranch.readers.pdf_layout.mupdf import Word
from tests.readers.pdf_layout.build import line


@pytest.mark.parametrize(
    "text",
    ["5", "1,009", "(1,082,432)", "$3,208,323", "100.0 %", "(31.5)%", "—", "-", "12.5*", "31/12/2021", "7B", "n/a"],
)
def test_numbers(text: str) -> None:
    assert is_number(text)


@pytest.mark.parametrize("text", ["", "Total", "2020 to 2021 %", "Item 5", "Q1 2021", "x"])
def test_other_words(text: str) -> None:
    assert not is_number(text)


def words(*found: tuple[str, float, float], y: float = 100.0) -> list[Word]:
    return [(x0, y, x1, y + 10, text, 0, 0, 0) for text, x0, x1 in found]


def test_a_line_is_cut_between_words_where_an_edge_crosses_it() -> None:
    whole = line("Meta Helpful Avg", 50, 100, width=150)
    placed = words(("Meta", 50, 70), ("Helpful", 72, 100), ("Avg", 180, 200), ("elsewhere", 60, 90), y=100)[:3]
    parts = cut(whole, [110.0], lambda: [*placed, *words(("below", 60, 90), y=300)])
    assert [(part.text, part.x0, part.x1) for part in parts] == [("Meta Helpful", 50, 100), ("Avg", 180, 200)]


def test_a_line_stays_whole_where_no_edge_crosses_or_its_words_are_not_known() -> None:
    whole = line("Meta Avg", 50, 100, width=150)
    assert cut(whole, [20.0, 300.0], lambda: pytest.fail("nobody needs the words")) == [whole]
    assert cut(whole, [110.0], list) == [whole]
    assert cut(whole, [110.0], lambda: words(("Meta", 50, 70), ("hidden", 100, 120), ("Avg", 180, 200))) == [whole]


def test_a_cell_says_its_rows_on_one_line() -> None:
    wrapped = [line("Cost of the in-", 50, 100), line("stallation", 50, 112), line("per year", 120, 112)]
    assert text_of(wrapped, frozenset()) == "Cost of the installation per year"
    assert text_of([], frozenset()) == ""


def test_numbers_below_numbers_are_rows() -> None:
    band = [[line("a", 50, 100), line("b", 50, 112)], [line("1", 200, 100), line("2", 200, 112)]]
    rows = by_baseline(band)
    assert [[cell[0].text for cell in row] for row in rows] == [["a", "1"], ["b", "2"]]
    assert has_several_rows(rows)
    prose = by_baseline([[line("a", 50, 100)], [line("one", 200, 100), line("two", 200, 112)]])
    assert not has_several_rows(prose)


def test_symbols_say_nothing() -> None:
    assert says_enough(["Name", "Amount", "5", "-"])
    assert not says_enough(["f", "g", "X", "Y", "U", "name", "amount"])
    assert not says_enough(["1", "2", "3"])
