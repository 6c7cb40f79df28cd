from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.proper_nouns import known_names, mentions, words


def test_names_are_told_by_their_capitals() -> None:
    names = [
        word.folded for word in words("The U.S. engineer Ida Marrow's work. Nobody but Tom asked, in May.") if word.sure
    ]
    assert names == ["us", "ida", "marrow", "tom"]
    assert [word.folded for word in words("Revenue grew. Costs fell.") if word.maybe] == ["revenue", "costs"]
    assert not any(word.sure for word in words("Revenue grew. Costs fell."))


@given(st.text(max_size=150))
def test_a_text_mentions_each_of_its_words(text: str) -> None:
    assert all(mentions(text, word.folded) for word in words(text))


def test_what_begins_a_claim_is_a_name_where_a_text_has_it_inside_a_sentence() -> None:
    claims = ["Uber lost money.", "Revenue fell."]
    assert known_names(claims, ["How much did Uber lose?", "Revenue fell."]) == {"uber"}
    assert known_names(claims, ["Uber fell."]) == frozenset()
