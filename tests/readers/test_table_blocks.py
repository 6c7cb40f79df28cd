from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anabranch.models.embedders import load_embedder
from anabranch.readers.merged_cells import MergedCells, TableCell, cells_in_order, lay_out, under_spans
from anabranch.readers.table_blocks import markdown_rows, nameless_parts, table_parts, table_texts


def texts(*rows: str) -> list[str]:
    return list(table_texts([cell.strip() for cell in row.split("|")] for row in rows))


def test_a_small_table_is_one_text() -> None:
    assert texts("name|age", "Ada|36", "Bob|44") == ["| name | age |\n| Ada | 36 |\n| Bob | 44 |"]


def test_notes_above_a_table_are_no_header() -> None:
    table = ["Name|Trade|Town|Age", "Ada|poet|Hull|36", "Bob|||44"]
    notes = ["Some notes", "simply||some", "at the||top of|their sheets", "or||merged"]
    found = texts(*notes, *table, "", *notes, "River|Mouth|Land|Length", "Lune|Bay|UK|89")
    said = "Some notes\nsimply some\nat the top of their sheets\nor merged"
    written = "| Name | Trade | Town | Age |\n| Ada | poet | Hull | 36 |\n| Bob |  |  | 44 |"
    assert found == [said, written, said, "| River | Mouth | Land | Length |\n| Lune | Bay | UK | 89 |"]


@pytest.mark.parametrize(
    "header",
    [
        ["|Ada|Bob", "Trade|poet|smith"],  # the first cell alone is missing, as in most headers of figures
        ["Name||Grades|", "|first|second|third"],  # a header of two lines
        ["Name|Trade|Age", "Eve|cook|old"],  # a row of words below it
    ],
)
def test_a_header_with_a_row_of_words_below_it_stays_one(header: list[str]) -> None:
    width = 1 + header[0].count("|")
    (found,) = texts(*header, "|".join(["Mean", *["5"] * (width - 1)]))
    assert set(header[0].replace("|", " ").split()) <= set(found.split("\n")[0].split())


def test_a_table_without_a_header_is_a_line_for_each_row() -> None:
    rows = [["options", "", ""], ["", "-n", "do\nnothing"], ["", "-s", "statistics", "all"], ["", "", ""]]
    assert list(nameless_parts(rows)) == ["options\n-n: do nothing\n-s: statistics; all"]
    many = list(nameless_parts([[f"-{n}", "a word or two on it"] for n in range(90)]))
    assert sum(text.count("\n") + 1 for text in many) == 90
    assert 5 < len(many) < 45


def test_the_header_is_repeated_over_each_group_of_rows() -> None:
    found = texts("name|age", *(f"Person number {n}|{n}" for n in range(100)))
    assert len(found) > 5
    assert all(text.startswith("| name | age |\n| Person number") for text in found)
    assert sum(text.count("Person") for text in found) == 100


def test_a_table_in_a_text_is_whole_where_it_is_short_and_else_repeats_its_header() -> None:
    rows = [["Gebäude", "2023"], *([f"Schule {n}", str(n)] for n in range(90))]
    assert list(table_parts(rows[:3])) == [markdown_rows(rows[:3])]
    parts = list(table_parts(rows))
    assert len(parts) > 3
    assert all(part.startswith("| Gebäude | 2023 |\n| Schule ") for part in parts)
    assert list(table_parts([["", ""]])) == []


def test_names_of_several_rows_and_columns_stand_over_their_figures() -> None:
    rows = [["", "2021", None, "2020", None], ["Quarter", "High", "", "High", ""], ["March", "", "3.02", "", "1.95"]]
    assert under_spans(rows) == [["Quarter", "2021 High", "2020 High"], ["March", "3.02", "1.95"]]
    rows[1] = ["Quarter", "High", None, "High", None]
    assert under_spans(rows) == [["Quarter", "2021 High", "2020 High"], ["March", "3.02", "1.95"]]
    # A title over all columns is no name, and a table of words has none to align.
    assert under_spans([["Umsatz", None], ["Nord", "7"]]) == [["Umsatz", ""], ["Nord", "7"]]
    assert under_spans([["a", None, "b"], ["c", "d", "e"]]) == [["a", "", "b"], ["c", "d", "e"]]


def test_a_wide_row_names_each_of_its_values_and_begins_with_the_first() -> None:
    header = "|".join(f"column {n}" for n in range(60))
    found = texts(header, "|".join(f"value {n}" for n in range(60)), "|".join(f"other {n}" for n in range(60)))
    assert found[0].startswith("| column 0 | column 1 |")
    rows = found[1:]
    assert "column 7: value 7" in rows[0].split("\n")
    assert all(text.startswith(("column 0: value 0\n", "column 0: other 0\n")) for text in rows)
    assert all(re.fullmatch(r"column \d+: \w+ \d+", line) for text in rows for line in text.split("\n"))


def test_a_long_cell_stands_with_its_name_and_row() -> None:
    found = texts("id|text|note", f"7|{'long words ' * 60}|x", "8|short|y")
    assert found[0] == "| id | text | note |"
    assert found[1].startswith("id: 7\ntext: long words long")
    assert found[2] == "id: 7\nnote: x"
    assert found[3] == "| id | text | note |\n| 8 | short | y |"


def test_captions_stand_apart_and_keep_the_header() -> None:
    assert texts("Report of sales||", "||", "Region|Q1|Q2", "North|1|2", "||", "Abroad||", "South|3|4") == [
        "Report of sales",
        "| Region | Q1 | Q2 |\n| North | 1 | 2 |",
        "Abroad",
        "| Region | Q1 | Q2 |\n| South | 3 | 4 |",
    ]


def test_a_row_of_words_after_a_gap_heads_the_next_table() -> None:
    assert texts("Region|Q1", "North|1", "|", "Name|City", "Ada|London") == [
        "| Region | Q1 |\n| North | 1 |",
        "| Name | City |\n| Ada | London |",
    ]


def test_a_gap_inside_a_table_changes_nothing() -> None:
    assert texts("Region|Q1", "North|1", "|", "South|2") == ["| Region | Q1 |\n| North | 1 |\n| South | 2 |"]
    assert texts("a|b", "c|d", "|", "e|f") == ["| a | b |\n| c | d |\n| e | f |"]


def test_two_rows_of_headings_are_one_header() -> None:
    assert texts("|2023||2024|", "Region|Q1|Q2|Q1|Q2", "North|1|2|3|4") == [
        "| Region | 2023 Q1 | 2023 Q2 | 2024 Q1 | 2024 Q2 |\n| North | 1 | 2 | 3 | 4 |"
    ]


def test_a_first_column_without_a_name_is_no_second_row_of_headings() -> None:
    assert texts("|name|city", "a|Ada|London") == ["|  | name | city |\n| a | Ada | London |"]


def test_numbers_alone_are_no_header_and_years_may_be() -> None:
    assert texts("1|2", "3|4") == ["| 1 | 2 |\n| 3 | 4 |"]
    assert texts("Country|2019|2020", *(f"Country {n}|{n}|{n}" for n in range(50)))[-1].startswith("| Country | 2019 |")


def test_a_header_printed_again_is_said_once() -> None:
    assert texts("a|b", "1|2", "a|b", "3|4") == ["| a | b |\n| 1 | 2 |\n| 3 | 4 |"]


def test_one_column_is_lines() -> None:
    assert texts("word", "one", "two") == ["word\none\ntwo"]


def test_a_header_alone_and_nothing_at_all() -> None:
    assert texts("a|b") == ["| a | b |"]
    assert texts("|", "") == []


def test_rows_longer_than_the_header_keep_their_cells() -> None:
    assert texts("a|b", "1|2|3") == ["| a | b |  |\n| 1 | 2 | 3 |"]
    assert texts("a|b", f"{'word ' * 200}|2|3")[-1].endswith("b: 2\ncolumn 3: 3")


CELL = st.text(st.sampled_from("ab1.,- é漢|"), max_size=12).map(str.strip)


@given(st.lists(st.lists(CELL, max_size=6), max_size=12))
def test_no_cell_is_lost(rows: list[list[str]]) -> None:
    """A header that is printed again is the only thing that may go."""
    unescaped = re.sub(r"\\\|", "|", "\n".join(table_texts(rows)))
    joined = re.sub(r"[\s]", "", unescaped)
    for row in rows:
        for cell in row:
            assert re.sub(r"\s", "", cell) in joined


@pytest.mark.parametrize("kind", ["words", "numbers", "prose"])
def test_a_text_fits_the_smallest_usual_passage(kind: str) -> None:
    cells = {
        "words": "several plain English words here",
        "numbers": "2024-03-01 1234.56",
        "prose": "The pump failed. It was replaced.",
    }
    rows = [["identifier", "first column", "second column"]] + [[str(n), cells[kind], cells[kind]] for n in range(50)]
    found = list(table_texts(rows))
    counts = load_embedder("minilm").count(found)
    assert max(counts) <= 128
    assert sorted(counts)[len(counts) // 2] > 60


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


def test_a_value_shows_in_each_row_that_it_spans() -> None:
    down = MergedCells()
    down.begin(1, 3, "North")
    assert down.fill_spans({1: "North", 2: "Oslo"}, 2) == {1: "North", 2: "Oslo"}
    assert down.fill_spans({2: "Rome"}, 3) == {1: "North", 2: "Rome"}
    assert down.fill_spans({2: "Cairo"}, 4) == {2: "Cairo"}
    assert down.fill_spans({}, 3) == {}


def test_an_empty_value_is_not_spread() -> None:
    down = MergedCells()
    down.begin(1, 9, "")
    assert down.fill_spans({2: "x"}, 2) == {2: "x"}


@given(st.dictionaries(st.integers(1, 30), st.text(min_size=1)))
def test_cells_take_their_places(row: dict[int, str]) -> None:
    cells = cells_in_order(row)
    assert len(cells) == max(row, default=0)
    assert {at: cell for at, cell in enumerate(cells, start=1) if cell} == row


def cells(*row: str | tuple[str, int] | tuple[str, int, int]) -> list[TableCell]:
    return [TableCell(cell) if isinstance(cell, str) else TableCell(*cell) for cell in row]


def test_cells_that_span_rows_and_columns_take_their_places() -> None:
    rows = [
        cells(("Region", 1, 2), ("2023", 2), ("2024", 2)),
        cells("Q1", "Q2", "Q1", "Q2"),
        cells(("Nord", 1, 2), "10", "20", "30", ("40", 1, 2)),
        cells("11", "21", "31"),
    ]
    assert lay_out(rows) == [
        ["Region", "2023", None, "2024", None],
        ["Region", "Q1", "Q2", "Q1", "Q2"],
        ["Nord", "10", "20", "30", "40"],
        ["Nord", "11", "21", "31", "40"],
    ]
    assert under_spans(lay_out(rows)) == [
        ["Region", "2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"],
        ["Nord", "10", "20", "30", "40"],
        ["Nord", "11", "21", "31", "40"],
    ]


def test_a_cell_may_go_on_with_the_one_above() -> None:
    rows = [cells("a", "b"), cells("Ada", "1"), cells(("", 1, 0), "2"), cells(("", 1, 0), "3")]
    assert [row[0] for row in lay_out(rows)] == ["a", "Ada", "Ada", "Ada"]


def test_a_cell_may_claim_any_size() -> None:
    (row,) = lay_out([cells(("wide", 10**9))])
    assert len(row) == 100
    long = "word " * 100
    assert lay_out([cells((long, 1, 60_000), "a"), cells("b")]) == [[long, "a"], ["", "b"]]


def test_a_column_without_figures_keeps_its_name_and_rows_of_words_are_no_header() -> None:
    rows: list[list[str | None]] = [["Exhibit", "Filed"], ["10.1", ""], ["10.2", ""]]
    assert under_spans(rows)[0] == ["Exhibit", "Filed"]
    rows = [["Name", "Stand"], ["Ada", "gut"], ["Bob", "5"]]
    assert under_spans(rows) == rows


@given(st.lists(st.lists(st.builds(TableCell, CELLS, st.integers(1, 4), st.integers(0, 4)), max_size=5), max_size=5))
@example(
    [
        [TableCell("B", 2), TableCell("B")],
        [TableCell("A"), TableCell(""), TableCell("")],
        [TableCell(""), TableCell("0")],
    ]
)
@example([[TableCell("", 2, 0)], [TableCell("A", 1, 2), TableCell("", 1, 0), TableCell("B")], [TableCell("0")]])
def test_laying_out_loses_no_cell(rows: list[list[TableCell]]) -> None:
    table = under_spans(lay_out(rows))
    told = " ".join(cell for row in table for cell in row).split()
    assert len(table) <= len(rows)
    assert {cell.text for row in rows for cell in row if cell.text and cell.down} <= {*told, ""}
