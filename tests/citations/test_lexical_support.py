from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.lexical_support import wording


@pytest.mark.parametrize(
    ("claim", "text", "share"),
    [
        ("Revenues were rising", "The revenue rises.", 1),
        ("Revenue rose sharply", "Costs fell.", 0),
        ("The bridge was closed", "Nobody saw the bridge.", 0.5),
        ("It came to 2,400 million dollars", "2.4 billion dollars came", 0.75),
        ("Brücke geschlossen", "Unsere Brücke", 0.5),
        ("桥梁关闭", "桥梁", 1 / 3),
        ("the of", "the of", 0),
    ],
)
def test_support(claim: str, text: str, share: float):
    assert wording(claim).support_by(wording(text)) == pytest.approx(share)


@given(st.text(max_size=100), st.text(max_size=100))
def test_a_share_of_which_a_text_has_all_of_its_own(claim: str, text: str):
    said = wording(claim)
    assert 0 <= said.support_by(wording(text)) <= 1
    assert said.support_by(said) == bool(said.words or said.figures)
    assert said.support_by(said.joined(wording(text))) >= said.support_by(wording(text)) - 1e-9 or any(
        figure.is_scaled for figure in said.figures
    )
