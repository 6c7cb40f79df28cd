"""Numbers that count something else in a claim than in a span, or are of another unit."""

from __future__ import annotations

import pytest

from anabranch.citations.counted_numbers import counts_something_else, measures_something_else
from anabranch.citations.language_tables import tables_of
from tests.citations.test_agreement import claim, piece

PLOT = "A plot of 125 square metres costs £38 a year; a tonne of soil costs 9 Canadian dollars in 2021."
CAKE = "Plum cake bakes at 190 °C for 45 minutes."
BEITRAG = "Ordentliche Mitglieder zahlen 264 Euro im Jahr."
TURM = "Der Turm misst 43 Meter, sein Licht ist 21 Seemeilen weit zu sehen und wiegt 80 Kilo."


@pytest.mark.parametrize(
    ("said", "there", "language", "wrong"),
    [
        (
            "Report damage within five weeks.",
            "Report damage within five days, and leaks in two weeks.",
            "english",
            True,
        ),
        (
            "Report damage within five days.",
            "Report damage within five days, and leaks in two weeks.",
            "english",
            False,
        ),
        ("It begins on 3 March.", "It begins on 1 March and runs for 3 years.", "english", True),
        ("It begins on 1 March.", "It begins on 1 March and runs for 3 years.", "english", False),
        ("Die Frist beträgt fünf Wochen.", "Die Frist beträgt fünf Tage oder zwei Wochen.", "german", True),
        ("Die Frist beträgt fünf Tage.", "Die Frist beträgt fünf Tage oder zwei Wochen.", "german", False),
        # What both count is said once, and a verb before a number counts nothing.
        ("Bo received 12 votes.", "Ada was elected with 19 votes; Bo received 12.", "english", False),
        ("Ada received 19 votes.", "Ada was elected with 19 votes; Bo received 12.", "english", False),
        ("Interest is $25 per year.", "The fine is $25 for each day; interest is 4 % per year.", "english", True),
        ("Bo erhielt 12 Stimmen.", "Ada wurde mit 19 Stimmen gewählt; Bo erhielt 12.", "german", False),
    ],
)
def test_a_number_that_counts_something_else(said: str, there: str, language: str, wrong: bool) -> None:
    assert counts_something_else(claim(said, language), piece(there, language)) is wrong


@pytest.mark.parametrize(
    ("said", "there", "language", "wrong"),
    [
        ("It costs £125 a year.", PLOT, "english", True),
        ("It costs £38 a year.", PLOT, "english", False),
        ("It costs 125 a year.", PLOT, "english", False),
        ("Soil costs $9.", PLOT, "english", False),
        ("That is 21 m high.", TURM, "german", True),
        ("Er ist 43 m hoch.", TURM, "german", False),
        ("Es wiegt 80 kg.", TURM, "german", False),
        ("Er wiegt 80 t.", TURM, "german", False),
        ("It has 190 calories.", CAKE, "english", True),
        ("It bakes at 190 degrees for 45 minutes.", "It bakes at 190 degrees for 45 minutes.", "english", False),
        ("Soil costs 9 Canadian dollars.", "Soil costs $9.", "english", False),
        ("Der Verein hat 264 Mitglieder.", BEITRAG, "german", True),
        ("Sie zahlen 264 im Jahr.", BEITRAG, "german", False),
        # A unit may be spelt out in a way that no table knows.
        ("The export is 25 megabytes.", "The export is 25 MB.", "english", False),
    ],
)
def test_a_unit_in_the_place_of_what_is_counted(said: str, there: str, language: str, wrong: bool) -> None:
    units = tables_of(language).units
    assert measures_something_else(claim(said, language), piece(there, language), units) is wrong
