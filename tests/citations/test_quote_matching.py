from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anabranch.citations.quote_matching import find_quote, fold, locate

PASSAGE = (
    "The eﬃcient exam-\nple shows that “running costs” fell — by 15 cars.  It **was** well-known, wasn’t it? "
    "Revenue grew by 1.5 million to 12,000 in snake_case units."
)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("the efficient EXAMPLE shows", "The eﬃcient exam-\nple shows"),
        ("efficient exam-ple shows", "eﬃcient exam-\nple shows"),
        ('"running costs" fell', "running costs” fell"),
        ("'running costs' fell - by 15 cars.", "running costs” fell — by 15 cars."),
        ("costs fell—by 15 cars", "costs” fell — by 15 cars"),
        ("It was well known, wasn't it", None),
        ("It was well-known, wasn't it", "It **was** well-known, wasn’t it"),
        ("“It was\n well-known”;", "It **was** well-known"),
        ("by 15\u200b ca\u00adrs", "by 15 cars"),
        ("snake_case units", "snake_case units"),
        ("efficient example ... revenue grew", None),
        (
            "The efficient ... well-known",
            "The eﬃcient exam-\nple shows that “running costs” fell — by 15 cars.  It **was** well-known",
        ),
        (
            "running costs … Revenue grew",
            "running costs” fell — by 15 cars.  It **was** well-known, wasn’t it? Revenue grew",
        ),
        ("Revenue grew ... efficient example", None),
        ("running costs rose", None),
    ],
)
def test_typography_does_not_count(quote: str, found: str | None):
    if quote == "efficient example ... revenue grew":
        found = PASSAGE[PASSAGE.index("eﬃcient") : PASSAGE.index(" by 1.5")]
    span = find_quote(quote, fold(PASSAGE))
    assert (PASSAGE[slice(*span)] if span else None) == found


@pytest.mark.parametrize(
    "quote", ["5 cars", "5 million", "2,000", "12", "ple shows that running cost", "", "...", "“”"]
)
def test_half_a_word_or_number_is_no_quotation(quote: str):
    assert find_quote(quote, fold(PASSAGE)) is None


def test_one_word_proves_nothing_but_a_number_does():
    assert find_quote("the", fold(PASSAGE)) is None
    assert find_quote("revenue", fold(PASSAGE)) is None
    assert locate("revenue", fold(PASSAGE)) is not None
    assert find_quote("12,000", fold(PASSAGE)) is not None


def test_scripts_without_spaces():
    passage = "本年度の売上高は二割増加した。利益も増えた。"
    assert find_quote("売上高は二割増加した。", fold(passage)) == (4, 15)


@given(st.text(max_size=200))
@example("\ufc5e")  # a blank with two vowel signs, in one character
def test_folding_maps_each_character_back(text: str):
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert list(folded.starts) == sorted(folded.starts)
    assert all(0 <= start < end <= len(text) for start, end in zip(folded.starts, folded.ends, strict=True))


WORDS = st.lists(
    st.sampled_from(
        ["Revenue", "grew", "costs", "“fell”", "2,000", "cars", "eﬃcient", "well-known", "the", "of", "—", "it’s"]
    ),
    min_size=1,
)


@given(WORDS, WORDS, WORDS)
def test_what_was_copied_is_found(before: list[str], middle: list[str], after: list[str]):
    quote = " ".join(["alpha", *middle, "omega"])
    passage = "\n".join([*before, quote.replace(" ", "\n"), *after])
    span = find_quote(quote.upper(), fold(passage))
    assert span is not None
    assert fold(passage[slice(*span)]).text == fold(quote).text.strip()


@given(st.text(max_size=80), st.text(max_size=200))
def test_total_on_any_text(quote: str, passage: str):
    span = find_quote(quote, fold(passage))
    assert span is None or 0 <= span[0] < span[1] <= len(passage)


@pytest.mark.parametrize("unit", ["- ", "* ", "a-", "' ", "\n-", "....", "a b ", "1-", "_", " \n"])
@pytest.mark.work(60)  # quadratic work would take many minutes here
def test_work_is_bounded(unit: str):
    find_quote(unit * 50 + " and some words", fold(unit * 5_000))
