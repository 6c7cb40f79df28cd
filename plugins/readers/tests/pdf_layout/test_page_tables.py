from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anabranch.readers.mupdf import PdfWord
from anabranch.readers.table_blocks import fits, markdown_rows
from anabranch_readers.pdf_layout.page_tables import (
    PdfTable,
    by_baseline,
    continued,
    cut,
    has_several_rows,
    is_number,
    says_enough,
    table,
    text_of,
    texts,
)
from plugins.readers.tests.pdf_layout.build import line


def made(cells: Sequence[Sequence[str]], *, bold: int = 0, ruled: bool = False) -> PdfTable:
    rows = [
        [
            [line(text, 50 + 150 * at, 100 + 12 * number, bold=number < bold)] if text else []
            for at, text in enumerate(row)
        ]
        for number, row in enumerate(cells)
    ]
    found = table(rows, frozenset(), [range(len(row)) for row in cells] if ruled else ())
    assert found is not None
    return found


def test_a_table_is_markdown_without_its_empty_rows_and_columns() -> None:
    found = made([("Item", "", "2021"), ("", "", ""), ("Net | gross", "", "7")])
    assert found.text == "| Item | 2021 |\n| Net \\| gross | 7 |"
    assert found.cells == (("Item", "2021"), ("Net | gross", "7"))


def test_one_row_or_one_column_is_none() -> None:
    lines = [[[line("a", 50, 100)], []], [[line("b", 50, 112)], []]]
    assert table(lines, frozenset()) is None
    assert table([[[line("a", 50, 100)], [line("b", 150, 100)]]], frozenset()) is None
    assert table([], frozenset()) is None


def test_what_names_the_columns() -> None:
    assert made([("Name", "Town"), ("Ann", "Rome"), ("Ben", "Oslo")], bold=1).header == 1
    assert made([("", "Year ended"), ("", "2021"), ("Cost", "5"), ("Rent", "7")]).header == 2
    assert made([("Item", "2021"), ("Cost", "5"), ("Rent", "7")]).header == 1
    assert made([("Cost", "5"), ("Rent", "7"), ("Power", "9")]).header == 0
    assert made([("Ann", "Rome"), ("Ben", "Oslo"), ("Cleo", "Cairo")]).header == 0
    assert made([("Status", "Meaning"), ("on", "it is running and may be used"), ("off", "it is at rest")]).header == 0
    assert (
        made(
            [("Status", "Meaning"), ("on", "it is running and may be used"), ("off", "it is at rest")], ruled=True
        ).header
        == 1
    )
    assert (
        made(
            [("GP", "works with your specialist in providing care"), ("nurse", "gives care"), ("other", "helps")],
            ruled=True,
        ).header
        == 0
    )


def test_the_cell_of_a_heading_names_each_column_that_it_reaches_over() -> None:
    rows = [
        [[line("State", 50, 100)], [line("Permits", 200, 100)], []],
        [[], [line("Old", 200, 112)], [line("New", 350, 112)]],
        [[line("Ohio", 50, 124)], [line("5", 200, 124)], [line("7", 350, 124)]],
    ]
    found = table(rows, frozenset(), [[0, 1, 1], [0, 1, 2], [0, 1, 2]])
    assert found is not None
    assert (found.header, found.names) == (2, ("State", "Permits Old", "Permits New"))


def test_a_short_table_is_one_text() -> None:
    found = made([("", "Year ended"), ("", "2021"), ("Cost", "5"), ("Rent", "7")])
    assert [*texts(found)] == [found.text]


def test_a_long_one_has_the_names_of_its_columns_over_every_part() -> None:
    found = made([("Item", "Amount"), *((f"Number {at} of the list", str(at * 1000)) for at in range(60))])
    parts = [*texts(found)]
    assert len(parts) > 4
    assert all(part.startswith("| Item | Amount |\n| Number") for part in parts)
    assert all(len(part) < 500 for part in parts)
    assert [line for part in parts for line in part.split("\n")[1:]] == found.text.split("\n")[1:]


GROUPS = [("", "7B", "1"), ("Llama", "13B", "2"), ("", "33B", "3"), ("MPT", "7B", "4"), ("", "30B", "5")]


def test_the_label_of_a_group_is_on_each_of_its_rows_wherever_it_was_set() -> None:
    found = made([("Model", "Size", "Code"), *GROUPS])
    assert [*texts(found)] == [
        "| Model | Size | Code |\n| Llama | 7B | 1 |\n| Llama | 13B | 2 |\n| Llama | 33B | 3 |\n"
        "| MPT | 7B | 4 |\n| MPT | 30B | 5 |"
    ]


def test_rows_without_a_label_keep_none_where_the_groups_are_not_clear() -> None:
    (text,) = texts(made([("Model", "Size", "Code"), *GROUPS, ("", "7B", "6")]))
    assert text.endswith("| MPT | 7B | 4 |\n|  | 30B | 5 |\n|  | 7B | 6 |")


def test_a_wide_row_is_written_name_by_name() -> None:
    names = ["State", *(f"Kind of permit {at}" for at in range(30))]
    found = made([names, *([state, *(str(at) for at in range(30))] for state in ("Ohio", "Utah", "Iowa"))])
    parts = [*texts(found)]
    assert all(part.startswith(("State: Ohio\n", "State: Utah\n", "State: Iowa\n")) for part in parts[1:])
    assert "Kind of permit 29: 29" in parts[-1]


def test_a_table_goes_on_under_the_header_of_the_page_before() -> None:
    above = made([("Item", "Amount"), ("Cost", "5"), ("Rent", "7")])
    below = continued(above, made([("Power", "9"), ("Water", "2")]))
    assert below is not None
    assert below.cells == (("Item", "Amount"), ("Power", "9"), ("Water", "2"))
    assert (below.header, below.names) == (1, ("Item", "Amount"))
    again = made([("Item", "Amount"), ("Power", "9"), ("Water", "2")])
    assert continued(above, again) == again


def test_another_table_does_not() -> None:
    above = made([("Item", "Amount"), ("Cost", "5"), ("Rent", "7")])
    assert continued(above, made([("Name", "Age"), ("Ann", "9"), ("Ben", "2")])) is None
    assert continued(above, made([("Power", "9", "x"), ("Water", "2", "y")])) is None
    assert continued(made([("Cost", "5"), ("Rent", "7")]), made([("Power", "9"), ("Water", "2")])) is None


@given(st.lists(st.tuples(st.text("ab1 ", max_size=30), st.text("12,", max_size=8)), min_size=2, max_size=40))
# A header of two rows, and no more below it than one text holds: still written in one row.
@example([("a" * 30, ",2,2,2,2"), ("b" * 30, ",2,2,2,2"), ("", "1"), *[("a1 " * 10, "1,2,1,2,")] * 2])
def test_no_row_is_lost_or_doubled(rows: list[tuple[str, str]]) -> None:
    cells = [(f"x{label.strip()}", amount.strip() or "0") for label, amount in rows]
    found = made(cells)
    parts = [part.split("\n") for part in texts(found)]
    lines = found.text.split("\n")
    named = found.header > 0 and not fits(found.cells)
    assert not named or {part[0] for part in parts} == {markdown_rows([found.names])}
    assert [line for part in parts for line in (part[1:] if named else part)] == lines[found.header if named else 0 :]


@pytest.mark.parametrize(
    "text",
    ["5", "1,009", "(1,082,432)", "$3,208,323", "100.0 %", "(31.5)%", "—", "-", "12.5*", "31/12/2021", "7B", "n/a"],
)
def test_numbers(text: str) -> None:
    assert is_number(text)


@pytest.mark.parametrize("text", ["", "Total", "2020 to 2021 %", "Item 5", "Q1 2021", "x"])
def test_other_words(text: str) -> None:
    assert not is_number(text)


def words(*found: tuple[str, float, float], y: float = 100.0) -> list[PdfWord]:
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
