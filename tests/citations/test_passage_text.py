from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.citation_record import LONGEST
from anabranch.citations.passage_text import PassageText, lookup_keys
from anabranch.citations.tokens import tokens

TABLE = (
    "Results:\n\n| | 2021 | 2020 |\n|---|---|---|\n| Revenue ($ million) | 612.5 | 365 |\n"
    "| Riders | 19 | 12 |\n\nIt grew."
)


def test_sentences_and_pairs_of_them() -> None:
    passage = PassageText("a", "The weir was built in 1850. It holds. Nobody knows why.")
    assert [passage.text[each.start : each.end] for each in passage.sentences] == [
        "The weir was built in 1850.",
        "It holds.",
        "Nobody knows why.",
    ]
    pairs = [(first, last) for first, last, _ in passage.candidates]
    assert pairs == [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2)]


def test_items_of_a_list_in_running_text_are_pieces_of_their_own() -> None:
    text = "(a) The rent is due in May. (b) the tenant paints; (c) die Miete (1225 Euro) trägt er."
    passage = PassageText("a", text)
    shown = [passage.text[each.start : each.end] for each in passage.sentences]
    assert shown == ["(a) The rent is due in May.", "(b) the tenant paints;", "(c) die Miete (1225 Euro) trägt er."]


def test_a_row_has_the_names_of_its_columns_and_the_unit_of_its_name() -> None:
    passage = PassageText("a", TABLE)
    (revenue,) = [each for each in passage.sentences if "revenue" in each.words]
    assert TABLE[revenue.start : revenue.end] == "| Revenue ($ million) | 612.5 | 365 |"
    assert {"2021", "2020"} <= revenue.words
    (said,) = [token for token in tokens("It was $612.5 million", "english") if token.figure]
    assert revenue.has(said)
    (wrong,) = [token for token in tokens("It was $612.5 billion", "english") if token.figure]
    assert not revenue.has(wrong)
    assert all(last == first for first, last, each in passage.candidates if each.rows)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The boiler is serviced by the plumber.", "english"),
        ("Der Kessel wird von dem Klempner gewartet.", "german"),
        ("", "english"),
    ],
)
def test_its_language(text: str, language: str) -> None:
    assert PassageText("a", text).language == language


def test_its_label_is_part_of_the_whole_and_of_no_sentence() -> None:
    passage = PassageText("a", "The weir holds.", "Report of 1987")
    (year,) = tokens("1987", "english")
    assert passage.whole.has(year)
    assert passage.about.has(year)
    assert not passage.sentences[0].has(year)


def test_the_sentences_around_some_words_are_no_longer_than_a_quote() -> None:
    passage = PassageText("a", "The weir was built in 1850. It holds.")
    at = passage.text.index("1850")
    assert passage.text[slice(*passage.around((at, at + 4)))] == "The weir was built in 1850."
    long = PassageText("a", "weir " * 400)
    start, end = long.around((1000, 1004))
    assert start <= 1000 < 1004 <= end <= start + LONGEST


def test_a_word_is_looked_up_by_its_stems_and_a_number_by_how_it_begins() -> None:
    passage = PassageText("a", "The weirs held 843.6 tons in March.")
    (piece,) = passage.sentences
    for text in ("weir", "844", "March 5"):
        assert piece.keys >= set(lookup_keys(tokens(f"in {text}", "english")[1]))
    assert not piece.keys & set(lookup_keys(tokens("in April 5", "english")[1]))


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["| a | 1 |\n", "|---|---|\n", "It is. ", "x" * 150, " ", "\n"]), max_size=20).map(
        "".join
    )
)
def test_any_text_is_cut_into_spans_in_order(text: str) -> None:
    passage = PassageText("a", text)
    start = -1
    for piece in passage.sentences:
        assert start < piece.start < piece.end <= len(text)
        assert piece.end - piece.start <= LONGEST
        assert text[piece.start : piece.end].strip()
        start = piece.start
    assert all(first <= last for first, last, _ in passage.candidates)


@pytest.mark.work(20)
@pytest.mark.parametrize("unit", ["x", "x ", "It is. ", "| a | 1 |\n", "\n", "1 "])
def test_work_is_bounded(unit: str) -> None:
    passage = PassageText("a", unit * (100_000 // len(unit)))
    assert len(passage.candidates) <= 800


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (
            "From: Ada Stern <ada@mill.example>\nTo: Bo Ost <bo@mill.example>\nSubject: The weir",
            "I open the weir on Sunday.",
        ),
        ("Von: Ada Stern <ada@mill.example>\nAn: Bo Ost\nBetreff: Das Wehr", "Ich öffne das Wehr am Sonntag."),
    ],
)
def test_the_lines_over_a_mail_are_read_with_its_first_sentence_and_not_shown(head: str, body: str) -> None:
    text = f"{head}\n\n{body}"
    shown = {text[piece.start : piece.end] for *_, piece in PassageText("1", text).candidates}
    assert shown == {head, body}
    pair = PassageText("1", text).candidates[-1][-1]
    assert {"ada", "ost"} < pair.words


def test_lines_with_a_colon_are_shown_with_what_follows_where_they_are_no_mail() -> None:
    text = "Opens: Monday\nCloses: Friday\n\nThe weir is old."
    assert text in {text[piece.start : piece.end] for *_, piece in PassageText("1", text).candidates}
