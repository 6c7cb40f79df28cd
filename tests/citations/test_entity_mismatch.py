from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.entity_mismatch import other_name, unknown_names

PASSAGE = (
    "The Halden weir was built by Ida Marrow in 1850. She rebuilt the abutment in 1899. Tom Ashby built the mill at "
    "Brannock for the United Nations."
)


@pytest.mark.parametrize(
    ("claim", "unknown"),
    [
        ("It was built by Ida Marrow.", set()),
        ("It was built by Jane Doe.", {"jane", "doe"}),
        ("It was for the UN.", set()),
        ("It was for NATO.", {"nato"}),
        ("The Weirs of England are old.", {"england"}),
        ("It is Marrow’s weir at HALDEN.", set()),
    ],
)
def test_a_name_that_is_nowhere_is_found_out(claim: str, unknown: set[str]) -> None:
    assert unknown_names(claim, PASSAGE, "Weirs and mills") == unknown


def test_a_name_in_the_question_is_one_at_the_beginning_of_a_claim() -> None:
    assert unknown_names("Uber built it.", PASSAGE, "") == set()
    assert unknown_names("Uber built it.", PASSAGE, "", {"uber"}) == {"uber"}


@pytest.mark.parametrize(
    ("claim", "quote", "other"),
    [
        ("Ida Marrow built the Halden weir.", "The Halden weir was built by Ida Marrow in 1850.", False),
        ("Tom Ashby built the Halden weir.", "The Halden weir was built by Ida Marrow in 1850.", True),
        ("Ida Marrow built the mill.", "Tom Ashby built the mill at Brannock", True),
        ("Ida Marrow rebuilt the abutment.", "She rebuilt the abutment in 1899.", False),
        ("Marrow built the mill.", "Tom Ashby built the mill at Brannock", True),
        ("In May, Ida Marrow hired Tom Ashby.", "In May, Tom Ashby hired Ida Marrow.", True),
        ("In May, Ida Marrow was hired by Tom Ashby.", "In May, Tom Ashby hired Ida Marrow.", False),
        ("In May, Ida Marrow met Tom Ashby.", "In May, Tom Ashby met Ida Marrow.", False),
    ],
)
def test_somebody_else_in_the_same_place(claim: str, quote: str, other: bool) -> None:
    assert other_name(claim, quote, PASSAGE, "Weirs and mills") is other


@given(st.text(max_size=150), st.text(max_size=60))
def test_a_text_knows_its_own_names_and_speaks_of_nobody_else(text: str, label: str) -> None:
    assert unknown_names(text, text, label) == set()
    assert not other_name(text, text, text, label)
