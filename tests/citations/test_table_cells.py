from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.passage_text import PassageText
from anabranch.citations.quantities import figures, unit_of_column
from anabranch.citations.table_cells import find_row, has_wrong_column, table_rows
from anabranch.citations.tokens import tokens
from anabranch.citations.verification import verify
from anabranch.text.language import language_of

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
    assert has_wrong_column(claim, figures(claim), rows[1:], rows) is wrong


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


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("Epoxy resin costs 17 euros.", True),
        ("Epoxy resin costs 32 euros.", False),
        ("Epoxy resin weighs 17 kg.", False),
        ("There are 17 of epoxy resin.", False),
        ("Pinsel kosten 4 Euro.", True),
        ("Pinsel kosten 3 Euro.", False),
    ],
)
def test_a_unit_is_that_of_the_column(claim: str, wrong: bool) -> None:
    rows = table_rows("|product|price_eur|stock|\n|---|---|---|\n|Epoxy resin|32.00|17|\n|Pinsel|3,00|4|")
    (shown,) = [row for row in rows if row.cells[0].split()[0] in claim or row.cells[0].lower() in claim.lower()]
    stated = tuple(token.figure for token in tokens(claim, language_of(claim, "english")) if token.figure)
    assert has_wrong_column(claim, stated, [shown], rows) is wrong


@pytest.mark.parametrize(("claim", "wrong"), [("It leaves at 19:05.", True), ("It leaves at 18:20.", False)])
def test_a_column_is_named_by_one_of_its_words(claim: str, wrong: bool) -> None:
    rows = table_rows("|Sailing|Leaves Mainport|Arrives Gull Island|\n|---|---|---|\n|Evening|18:20|19:05|")
    assert has_wrong_column(claim, figures(claim), rows, rows) is wrong


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("price_eur", "€"),
        ("Preis (EUR)", "€"),
        ("Umsatz in €", "€"),
        ("Gewicht [kg]", "kg"),
        ("Share %", "%"),
        ("Items", ""),
        ("Neuro", ""),
        ("Vitamin t", ""),
    ],
)
def test_the_unit_that_a_column_is_named_with(name: str, unit: str) -> None:
    assert unit_of_column(name) == unit


@pytest.mark.parametrize(("cell", "wrong"), [("", False), ("7", True)])
def test_an_empty_cell_contradicts_nothing(cell: str, wrong: bool) -> None:
    rows = table_rows(f"|City|2021|2020|\n|---|---|---|\n|Bern|{cell}|5|")
    claim = "In 2021 Bern had 5."
    assert has_wrong_column(claim, figures(claim), rows, rows) is wrong


def test_a_bar_in_a_cell_parts_no_cells() -> None:
    (row,) = table_rows("| name | of | n |\n|---|---|---|\n| a\\|b | either | 3 |\n")
    assert row.cells == ("a|b", "either", "3")
    assert row.names == ("name", "of", "n")


BOATS = (
    "|Boat type|Members per hour (EUR)|Cox needed|Seats|\n|---|---|---|---|\n|Quad|10.00|no|4|\n"
    "|Coxed four|11.00|yes|4|\n"
)
BOOTE = (
    "Preise der Boote für die Mitglieder des Vereins und für Gäste\n\n|Boot|Preis je Stunde (EUR)|Steuermann nötig|\n"
    "|---|---|---|\n|Vierer|10,00|nein|\n|Achter|11,00|ja|\n"
)
BATEAUX = (
    "Les prix des bateaux pour les membres du club\n\n|Bateau|Prix par heure (EUR)|Barreur requis|\n"
    "|---|---|---|\n|Quatre|10,00|non|\n|Huit|11,00|oui|\n"
)


@pytest.mark.parametrize(
    ("claim", "question", "text", "holds"),
    [
        ("A quad costs members 10.00 EUR per hour.", "What does a quad cost members?", BOATS, True),
        ("Members pay 10 euros per hour for a quad.", "What does a quad cost members?", BOATS, True),
        ("A quad costs members 11.00 EUR per hour.", "What does a quad cost members?", BOATS, False),
        ("A quad needs a cox.", "Does a quad need a cox?", BOATS, False),
        ("A quad needs no cox.", "Does a quad need a cox?", BOATS, True),
        ("A quad needs no cox.", "", BOATS, True),
        ("Quad", "Which boat needs no cox?", BOATS, True),
        (
            "The Basic plan has a hotline.",
            "Does it have one?",
            "|Plan|Hotline|\n|---|---|\n|Basic|–|\n|Full|✓|\n",
            False,
        ),
        ("Basis hat eine Hotline.", "Hat er eine?", "|Tarif|Hotline|\n|---|---|\n|Basis|✗|\n|Voll|✓|\n", False),
        ("A quad has 4 seats and needs a cox.", "How is a quad rowed?", BOATS, False),
        ("A coxed four needs no cox.", "Does a coxed four need a cox?", BOATS, False),
        ("A coxed four needs a cox.", "Does a coxed four need a cox?", BOATS, True),
        ("A quad does not cost members 10.00 EUR per hour.", "What does a quad cost members?", BOATS, False),
        (
            "Dogs are allowed on the pontoon.",
            "Are dogs allowed on the pontoon?",
            "|Rule|Value|\n|---|---|\n|Dogs are allowed on the pontoon|no|\n|Dogs are allowed on the lawn|yes|\n",
            False,
        ),
        ("Der Vierer kostet 10,00 EUR je Stunde.", "Was kostet der Vierer?", BOOTE, True),
        ("Für den Vierer ist kein Steuermann nötig.", "Ist ein Steuermann nötig?", BOOTE, True),
        ("Für den Vierer ist ein Steuermann nötig.", "Ist ein Steuermann nötig?", BOOTE, False),
        ("Le quatre coûte 10,00 EUR par heure.", "Combien coûte le quatre ?", BATEAUX, True),
        ("Pour le quatre un barreur est requis.", "Un barreur est-il requis ?", BATEAUX, False),
        ("Pour le quatre un barreur n'est pas requis.", "Un barreur est-il requis ?", BATEAUX, True),
        ("Le huit coûte 10,00 EUR par heure.", "Combien coûte le huit ?", BATEAUX, False),
    ],
)
def test_a_cell_that_says_no_denies_only_what_its_column_is_called(
    claim: str, question: str, text: str, holds: bool
) -> None:
    assert bool(verify(claim, {1: PassageText("1", text)}, question).found) is holds


MACHINES = "| | K3 | K3 Plus |\n|---|---|---|\n| Water tank | 1.4 litres | 1.9 litres |"
WITHOUT_HEAD = "| Water tank | K3 1.4 litres | K3 Plus 1.9 litres |"
SALES = "| Item | 2023 | 2024 |\n|---|---|---|\n| Shop sales | £1,875 | £1,420 |\n| Rents | £5,640 | £6,110 |"
WAGES = (
    "| Grade | Work | Per hour |\n|---|---|---|\n| 3 | joiner | £16.20 |\n| 4 | senior joiner | £18.10 |\n"
    "| 5 | machinist | £17.45 |"
)
LOHN = "| Stufe | Arbeit | Je Stunde |\n|---|---|---|\n| 3 | Tischler | 16,20 € |\n| 4 | leitender Tischler | 18,10 € |"


@pytest.mark.parametrize(
    ("claim", "question", "table", "held"),
    [
        ("The K3 Plus has a water tank of 1.9 litres.", "How big is the water tank of the K3 Plus?", MACHINES, True),
        ("The K3 Plus has a water tank of 1.4 litres.", "How big is the water tank of the K3 Plus?", MACHINES, False),
        ("The K3 has a water tank of 1.4 litres.", "How big is the water tank of the K3?", MACHINES, True),
        ("The K3 has a water tank of 1.9 litres.", "How big is the water tank of the K3?", MACHINES, False),
        ("1.4 litres", "How big is the water tank of the K3 Plus?", MACHINES, False),
        ("The K3 Plus has a water tank of 1.9 litres.", "How big is the water tank?", WITHOUT_HEAD, True),
        ("The K3 Plus has a water tank of 1.4 litres.", "How big is the water tank?", WITHOUT_HEAD, False),
        ("Shop sales were £1,875 in 2023.", "How did shop sales change from 2023 to 2024?", SALES, True),
        ("Shop sales were £1,420 in 2023.", "How did shop sales change from 2023 to 2024?", SALES, False),
        ("Shop sales fell from £1,875 in 2023 to £1,420 in 2024.", "How did they change?", SALES, True),
        ("Shop sales rose from £1,420 in 2023 to £1,875 in 2024.", "How did they change?", SALES, False),
        ("In 2023 shop sales were £1,875 and in 2024 £1,420.", "How did they change?", SALES, True),
        ("A senior joiner earns £18.10 per hour.", "What does a senior joiner earn per hour?", WAGES, True),
        ("A senior joiner earns £16.20 per hour.", "What does a senior joiner earn per hour?", WAGES, False),
        ("A senior joiner earns £17.45 per hour.", "What does a senior joiner earn per hour?", WAGES, False),
        ("A joiner earns £16.20 per hour.", "Does a joiner earn less than a senior joiner?", WAGES, True),
        ("A joiner earns £16.20 per hour.", "What does a joiner earn per hour?", WAGES, True),
        ("Ein leitender Tischler verdient 18,10 €.", "Was verdient ein leitender Tischler je Stunde?", LOHN, True),
        ("Ein leitender Tischler verdient 16,20 €.", "Was verdient ein leitender Tischler je Stunde?", LOHN, False),
    ],
)
def test_rows_and_columns_with_longer_names(claim: str, question: str, table: str, held: bool) -> None:
    passages = {1: PassageText("1", table)}
    assert bool(verify(claim, passages, question).found) is held
