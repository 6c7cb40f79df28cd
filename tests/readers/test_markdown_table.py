from hypothesis import given
from hypothesis import strategies as st

from anabranch.readers.markdown_table import markdown_rows

CELLS = st.text(st.characters(categories=["L", "N"]), max_size=5)


def test_rows_are_written_between_bars() -> None:
    assert markdown_rows([["a", "b"], ["c", "d"]]) == "| a | b |\n| c | d |"


def test_empty_rows_and_columns_go_and_short_rows_are_filled_up() -> None:
    assert markdown_rows([["", "a", "", "b"], ["", "", "", ""], ["", "c"]]) == "| a | b |\n| c |  |"


def test_signs_in_cells_of_their_own_move_to_their_number() -> None:
    rows = [["Net loss", "$", "", "(1,009", ")", "$", "5"], ["Margin", "", "", "12", "%", "", ""]]
    assert markdown_rows(rows) == "| Net loss | $(1,009) | $5 |\n| Margin | 12% |  |"


def test_a_bar_in_a_cell_and_line_breaks_do_not_break_the_row() -> None:
    assert markdown_rows([["a|b", "c\nd"]]) == "| a\\|b | c d |"


def test_nothing_gives_nothing() -> None:
    assert markdown_rows([]) == ""
    assert markdown_rows([["", " "]]) == ""


@given(st.lists(st.lists(CELLS, max_size=5), max_size=5))
def test_every_word_stays_and_every_row_has_the_same_columns(rows: list[list[str]]) -> None:
    text = markdown_rows(rows)
    lines = text.split("\n") if text else []
    assert [cell for row in rows for cell in row if cell] == [
        cell for line in lines for cell in line.strip("| ").replace("|", " ").split()
    ]
    assert len({line.count("|") for line in lines}) <= 1
