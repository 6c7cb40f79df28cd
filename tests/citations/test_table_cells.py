from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.passage_text import PassageText
from anabranch.citations.quantities import figures
from anabranch.citations.table_cells import find_row, table_rows, wrong_column
from anabranch.citations.verification import verify

TABLE = (
    "Results (in millions):\n\n| | 2021 | 2020 |\n|---|---|---|\n| Revenue | $3,208 | $2,365 |\n"
    "| Net loss | $(1,009) | $(1,752) |\n\nRiders grew."
)
NET_LOSS = "| Net loss | $(1,009) | $(1,752) |"


def test_rows_have_their_cells_and_the_names_of_the_columns() -> None:
    found = table_rows(TABLE)
    assert [row.cells for row in found] == [("Revenue", "$3,208", "$2,365"), ("Net loss", "$(1,009)", "$(1,752)")]
    assert {row.names for row in found} == {("", "2021", "2020")}
    assert TABLE[found[1].start : found[1].end] == NET_LOSS


@pytest.mark.parametrize(
    ("quote", "there"),
    [
        ("Net loss $(1,009) $(1,752)", True),
        ("Net loss: 2021 $(1,009); 2020 $(1,752)", True),
        ("Net loss (2020): $1,752", True),
        ("Net loss | $(1,752)", True),
        ("Net loss $(1,009) $(1,751)", False),
        ("Net loss $3,208", False),
        ("Net loss", False),
        ("$(1,009) $(1,752)", False),
        ("Net loss and revenue $(1,009)", False),
        ("", False),
    ],
)
def test_a_row_is_quoted_by_its_cells(quote: str, there: bool) -> None:
    span = find_row(quote, table_rows(TABLE))
    assert (span is not None) is there
    if span:
        assert TABLE[slice(*span)] == NET_LOSS


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("In 2021 the net loss was $1,009 million.", False),
        ("In 2020 the net loss was $1,009 million.", True),
        ("The net loss was $1,009 million.", False),
        ("The net loss shrank from $1,752 in 2020 to $1,009 in 2021.", False),
        ("In 2019 the net loss was $1,009 million.", False),
        ("In 2021 revenue was $1,009 million.", True),
        ("In 2021 it was $1,009 million.", False),
        ("In 2020 it was $1,009 million.", True),
    ],
)
def test_a_figure_belongs_to_its_column(claim: str, wrong: bool) -> None:
    rows = table_rows(TABLE)
    assert wrong_column(claim, figures(claim), rows[1:], rows) is wrong


@pytest.mark.parametrize("year", ["2021", "2020"])
def test_a_row_that_nobody_quoted_is_found_and_shown_alone(year: str) -> None:
    figure = {"2021": "$1,009", "2020": "$1,752"}
    passages = {1: PassageText("a", TABLE)}
    (record,) = verify(f"The net loss in {year} was {figure[year]} million [1].", passages).citations
    assert record.quote == NET_LOSS
    other = figure["2020" if year == "2021" else "2021"]
    assert verify(f"The net loss in {year} was {other} million [1].", passages).citations == ()


@given(st.text(alphabet="|-: a1\n", max_size=120), st.text(max_size=60))
def test_any_text_is_read(passage: str, quote: str) -> None:
    for row in table_rows(passage):
        assert passage[row.start : row.end].startswith("|")
    span = find_row(quote, table_rows(passage))
    assert span is None or passage[slice(*span)] in passage
