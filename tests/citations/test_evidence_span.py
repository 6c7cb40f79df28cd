from __future__ import annotations

from anabranch.citations.evidence_span import PassageText, anywhere, by_quote, is_possible, mended

TEXT = "An anabranch diverts from the main channel of a river and rejoins it downstream. It may be very long."
PASSAGE = PassageText("a", TEXT)
CLAIM = "An anabranch leaves a river and rejoins it."


def test_the_point_of_a_claim_is_quote_enough_where_the_passage_has_the_rest() -> None:
    span = by_quote(CLAIM, ["rejoins it downstream"], PASSAGE)
    assert span is not None
    assert TEXT[slice(*span)] == "rejoins it downstream"
    assert by_quote("An oxbow lake was painted and rejoins it.", ["rejoins it downstream"], PASSAGE) is None


def test_a_misquotation_is_mended_from_its_sentence() -> None:
    span = mended("The branch rejoins the channel downstream.", ["rejoins the river further downstream"], PASSAGE)
    assert span is None or TEXT[slice(*span)].startswith("An anabranch")
    near = ["An anabranch diverts from the main chanel of a river, and rejoins it downstream"]
    span = mended("Rejoining takes place downstream of where it diverts.", near, PASSAGE)
    assert span is not None
    assert TEXT[slice(*span)] == "An anabranch diverts from the main channel of a river and rejoins it downstream."


def test_the_best_passage_of_all() -> None:
    passages = {1: PassageText("b", "Herons nest at Lower Cray."), 7: PASSAGE}
    found = anywhere("An anabranch diverts from a river and rejoins it downstream.", passages)
    assert found is not None
    number, span = found
    assert number == 7
    assert TEXT[slice(*span)].startswith("An anabranch diverts")
    assert anywhere("Glaciers calve in Greenland.", passages) is None


def test_a_passage_without_the_number_or_the_name_is_out() -> None:
    assert not is_possible("It is 7 miles long.", PASSAGE)
    assert not is_possible("It was found by Ida Marrow.", PASSAGE)
    assert is_possible("It was found by Ida Marrow.", PassageText("a", TEXT, "Ida Marrow, Rivers"))
