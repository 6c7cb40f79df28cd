from __future__ import annotations

from anabranch.citations.claims import Claim
from anabranch.citations.evidence_span import OfferedQuote, PassageText, best_passage, quoted_span, repaired_span

TEXT = "An anabranch diverts from the main channel of a river and rejoins it downstream. It may be very long."
PASSAGE = PassageText("a", TEXT)


def claim(text: str) -> Claim:
    return Claim(text, 0, len(text), ())


def quoted(text: str, *quotes: str, passage: PassageText = PASSAGE) -> str | None:
    span = quoted_span(claim(text), [OfferedQuote(quote, passage) for quote in quotes], passage)
    return passage.text[slice(*span)] if span else None


def repaired(text: str, *quotes: str, passage: PassageText = PASSAGE) -> str | None:
    span = repaired_span(claim(text), [OfferedQuote(quote, passage) for quote in quotes], passage)
    return passage.text[slice(*span)] if span else None


def test_the_point_of_a_claim_is_quote_enough_where_the_passage_has_the_rest() -> None:
    point = "rejoins it downstream"
    assert quoted("An anabranch diverts from a river and rejoins it.", point) == point
    assert quoted("An oxbow lake was painted and rejoins it.", point) is None


def test_of_several_quotes_the_one_with_most_of_the_claim() -> None:
    assert quoted("It rejoins the river downstream.", "It may be very long", "a river and rejoins it downstream") == (
        "a river and rejoins it downstream"
    )


def test_a_misquotation_is_repaired_from_its_sentence() -> None:
    near = "An anabranch diverts from the main chanel of a river, and rejoins it downstream"
    found = repaired("Rejoining takes place downstream of where it diverts.", near)
    assert found == "An anabranch diverts from the main channel of a river and rejoins it downstream."
    assert repaired("Rejoining takes place downstream of where it diverts.", "the sea of the east") is None


def test_the_best_passage_of_all() -> None:
    passages = {1: PassageText("b", "Herons nest at Lower Cray."), 7: PASSAGE}
    found = best_passage(claim("An anabranch diverts from a river and rejoins it downstream."), passages)
    assert found is not None
    number, span = found
    assert number == 7
    assert TEXT[slice(*span)].startswith("An anabranch diverts")
    assert best_passage(claim("Glaciers calve in Greenland."), passages) is None
    assert best_passage(claim("Glaciers calve in Greenland."), {}) is None


WEIR = PassageText(
    "w", "In 1850 the weir was built, and in 1899 it was raised by 30 cm. Nobody lived at the weir then.", ""
)


def test_a_quote_is_shown_with_its_sentence_where_only_that_has_the_number() -> None:
    assert quoted("The weir was built in 1850.", "the weir was built", passage=WEIR) == (
        "In 1850 the weir was built, and in 1899 it was raised by 30 cm."
    )
    assert quoted("The weir was built in 1851.", "the weir was built", passage=WEIR) is None
    report = PassageText("r", WEIR.text, "Report of 1851")
    assert quoted("The weir was built in 1851.", "the weir was built", passage=report) == "the weir was built"


def test_a_sentence_with_another_number_that_has_more_of_the_claim_is_a_rival() -> None:
    rival = PassageText("m", "The old weir of Halden dates from 1850. The weir and mill of Halden date from 1862.")
    assert repaired("The old weir of Halden dates from 1862.", passage=rival) is None
    assert (
        repaired("The old weir of Halden dates from 1850.", passage=rival) == "The old weir of Halden dates from 1850."
    )


def test_rows_of_a_table_are_not_joined() -> None:
    table = PassageText("t", "| Plan | Seats |\n|---|---|\n| Basic | 1 |\n| Team | 10 |\n")
    assert repaired("Basic has 10 seats.", passage=table) is None
    assert repaired("Team has 10 seats.", passage=table) == "| Team | 10 |"
