"""The words of the passages that a judge of a claim is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.citation_record import LONGEST
from anabranch.citations.claim_windows import MOST, WINDOW, ClaimWindows, make_rows
from anabranch.citations.passage_text import PassageText

HEATING = (
    "The rent is due on the fifth. Faults of the heating are reported to the agent. An engineer comes within a day in "
    "winter. In the other months it takes up to a week."
)
TABLE = "| bill | who pays |\n|---|---|\n| Water | Landlord |\n| Gas | Tenants |"
FAR = f"{'The roof was tiled in spring. ' * 30}The piano goes to Toby. {'The wall was built of slate. ' * 30}"


def _windows(claim: str, *texts: str, question: str = "", **given: tuple[int, tuple[int, int]]) -> list[str]:
    passages = {number: PassageText(f"p{number}", text, "Lease\nRepairs") for number, text in enumerate(texts, start=1)}
    return [each.words for each in ClaimWindows(passages, question).find_windows(claim, **given)]


def test_the_sentences_beside_the_nearest_one_are_shown_with_it() -> None:
    assert _windows("An engineer looks at the heating.", HEATING) == [HEATING]


def test_the_question_tells_where_a_short_answer_stands() -> None:
    (best, *_) = _windows("A week.", "A week has seven days.", HEATING, question="How long does the heating take?")
    assert best == HEATING


def test_a_long_passage_is_shown_around_the_words_alone() -> None:
    (best, *_) = _windows("Toby gets the piano.", FAR)
    assert "The piano goes to Toby." in best
    assert len(best) <= WINDOW
    assert best.index("The piano") > 50
    assert not best.endswith("Toby.")


def test_where_the_claim_was_found_comes_first_and_no_place_comes_twice() -> None:
    at = FAR.index("The piano")
    (first, second) = _windows("The roof was tiled.", FAR, place=(1, (at, at + len("The piano goes to Toby."))))
    assert "The piano" in first
    assert "The piano" not in second


def test_two_passages_may_say_it_together() -> None:
    found = _windows(
        "Ida Marrow built the weir in 1850.", "Ida Marrow was an engineer.", "The weir is of 1850.", HEATING
    )
    assert sorted(found) == ["Ida Marrow was an engineer.", "The weir is of 1850."]
    assert len(found) == MOST


def test_a_row_is_shown_under_the_names_of_its_columns() -> None:
    (best, *_) = _windows("The tenants pay the gas.", f"{TABLE}\n" + "| Broadband | Tenants |\n" * 40)
    assert best.startswith("bill | who pays\n")


def test_what_shares_no_word_with_the_claim_is_not_shown() -> None:
    assert _windows("Jättar grävde kanalen.", HEATING) == []


def test_windows_are_numbered_anew_and_say_what_they_are_of() -> None:
    windows = ClaimWindows({7: PassageText("p", HEATING, "Lease\nRepairs")}).find_windows("The heating")
    assert make_rows(windows) == [(1, "Lease, Repairs", HEATING)]


@pytest.mark.work(30)
def test_many_long_passages_are_read_in_little_time() -> None:
    passages = {number: PassageText(f"p{number}", FAR * 10) for number in range(24)}
    windows = ClaimWindows(passages, "What was tiled?")
    for number in range(256):
        assert windows.find_windows(f"The roof was tiled in spring {number}.")


@given(st.text(alphabet="ab.\n|- 1", max_size=1500), st.text(alphabet="ab1 ", max_size=50))
def test_windows_are_parts_of_their_passage(text: str, claim: str) -> None:
    for each in ClaimWindows({1: PassageText("p", text)}).find_windows(claim):
        start, end = each.span
        assert 0 <= start < end <= len(text)
        assert end - start <= max(WINDOW, LONGEST)
        assert each.words.endswith(text[start:end])
