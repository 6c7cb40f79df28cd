"""Sentences tile the text, and known hard stops fall the right way."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.text.sentences import running_spans, spans


def sentences(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in spans(text)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Dr. Smith met J. R. Smith in the U.S. He paid 2.5 million, e.g. in cash.", 2),
        ("See Fig. 3 for details. It is at 3.14 exactly.", 2),
        ("The U.S. Government acts. Smith et al. (2020) found it.", 2),
        ("Version 1.2.3 is out. Get it from No. 5 Main St. today.", 2),
        ('"Really?" she said. He asked: "Why?" Nobody knew.', 3),
        ("Wait... what? Then... Nothing!", 3),
        ("The answer is no. Say it again.", 2),
        ("Milk, bread, etc. The shop was full. So did I. Then we left.", 4),
        ("One line\ngoes on. Then ends.", 2),
        ("A title without a stop\n\nA paragraph.", 2),
        ("Buy:\n- milk\n- bread\n2. eggs", 4),
        ("日本語です。次の文！最後？はい。", 4),
        ("هل أنت هنا؟ نعم أنا هنا. شكرا", 3),
        ("यह एक वाक्य है। यह दूसरा है।", 2),
    ],
)
def test_counts_sentences(text: str, count: int) -> None:
    assert len(spans(text)) == count, sentences(text)


def test_quotes_stay_with_the_sentence_they_close() -> None:
    assert sentences('He said "go." She left.') == ['He said "go."', "She left."]


def test_nothing_in_nothing_out() -> None:
    assert spans("") == []
    assert spans(" \n ") == [(0, 3)]


@given(st.text(alphabet=st.sampled_from(list("aB1 .\n\"'!?。,)-\u200b\u00a0é")), max_size=300))
def test_spans_tile_the_text_and_none_is_blank(text: str) -> None:
    found = spans(text)
    assert "".join(text[start:end] for start, end in found) == text
    assert all(left[1] == right[0] for left, right in pairwise(found))
    if text.strip():
        assert all(text[start:end].strip() for start, end in found)


@pytest.mark.parametrize("unit", [".", ". ", " \n", " ", '."', "\n ", "(", ")", "1. ", "…", "\n\n"])
@pytest.mark.work(60)  # quadratic work would take many minutes here
def test_time_stays_linear_on_runs_of_one_pattern(unit: str) -> None:
    spans("x" + unit * 200_000 + "x")


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Rides grew, beginning in the\n\nsecond quarter of 2021. Costs fell.", 2),
        ("Die Fahrten nahmen zu, beginnend im\n\nzweiten Quartal 2021. Kosten sanken.", 2),
        ("Results\n\nThe year was good.", 2),
        ("It ended.\n\nsecond quarter", 2),
        ("The weir of\n\n- first item", 2),
    ],
)
def test_a_sentence_goes_on_over_the_end_of_a_page(text: str, sentences: int) -> None:
    found = running_spans(text)
    assert len(found) == sentences
    assert "".join(text[start:end] for start, end in found) == text


@pytest.mark.parametrize(
    "sentences",
    [
        ["Das Guthaben wird bis zum 30. Juni 2024 überwiesen. ", "Danach nicht."],
        ["Die Wohnung im 2. Stock ist frei. ", "Sie kostet 30. ", "Danach mehr."],
        ["Nach § 5 Abs. 2 gilt Nr. 12. ", "Werkzeug, z. B. Hämmer, liegt dort. ", "Es war 44 v. Chr. und kalt."],
        ["Den 3. Maj er lukket. ", "Det åbner igen."],
        ["15. Kesäkuuta 2024 se suljetaan. ", "Sitten ei."],
        ["Platí do 5. Května. ", "Potom ne."],
        ["Dhr. Jansen woont op nr. 12. ", "Hij is oud."],
        ["He was 30. ", "May I ask why? ", "The value is x. ", "See p. 12 for it."],
    ],
    ids=["month", "article", "shortenings", "danish", "finnish", "czech", "dutch", "english"],
)
def test_a_stop_after_an_ordinal_or_a_shortening_of_any_language_ends_nothing(sentences: list[str]) -> None:
    text = "".join(sentences)
    assert [text[start:end] for start, end in spans(text)] == sentences
