"""What a text has that must agree with its evidence, read in several languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.agreement import has_opposite_word
from anabranch.citations.language_tables import tables_of
from anabranch.citations.tokens import Token, find_names, tokens
from anabranch.text.function_words import NEGATIONS, NUMBERS
from anabranch.text.stopwords import STOP_WORDS


def of_kind(text: str, language: str, kind: str) -> list[str]:
    return [token.text for token in tokens(text, language) if token.kind == kind]


def numbers(text: str, language: str, kind: str) -> list[int]:
    return [token.number for token in tokens(text, language) if token.kind == kind]


def figures(text: str, language: str) -> list[tuple[str, str]]:
    """Return the numbers of a text, each with its unit; of two readings the one without a fraction."""
    found = [token.figure for token in tokens(text, language) if token.figure]
    return [(min(figure.scaled, key=lambda value: "." in value), figure.unit) for figure in found]


@pytest.mark.parametrize(
    ("text", "language", "month", "weekday"),
    [
        ("on Monday, 3 March 2022", "english", [3], [1]),
        ("am Dienstag, dem 3. März 2022", "german", [3], [2]),
        ("le mercredi 3 août 2022", "french", [8], [3]),
        ("el jueves 3 de diciembre", "spanish", [12], [4]),
        ("3 марта, в пятницу и понедельник", "russian", [3], [1]),
        ("torstaina 5. toukokuuta", "finnish", [5], [4]),
        ("सोमवार, 5 मार्च", "hindi", [3], [1]),
        # Short names are names of a date beside a number alone.
        ("Sat 18 Oct, 21:55", "english", [10], [6]),
        ("Dec. 3, 2020", "english", [12], []),
        ("Jan Novak sat on the Sun Deck with 3 mar cats", "english", [], []),
        ("am Sa., 18. Okt. um 9 Uhr", "german", [10], [6]),
        ("le lun. 3 janv. 2024", "french", [1], [1]),
    ],
)
def test_months_and_weekdays(text: str, language: str, month: list[int], weekday: list[int]) -> None:
    assert numbers(text, language, "month") == month
    assert numbers(text, language, "weekday") == weekday


def test_may_and_march_are_words_without_a_capital_and_where_a_sentence_begins() -> None:
    assert numbers("It may march in May.", "english", "month") == [5]
    assert numbers("May it be so. March on.", "english", "month") == []
    assert numbers("May 5 was wet. In March it rained.", "english", "month") == [5, 3]
    assert numbers("Am 5. Mai kam er. Im Mai ging er.", "german", "month") == [5, 5]
    assert numbers("mai 2020 et mars", "french", "month") == [5, 3]


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("twelve weeks and sixty days", "english", [("12", ""), ("60", "")]),
        ("zwölf Wochen und dreißig Tage", "german", [("12", ""), ("30", "")]),
        ("douze semaines, cent jours", "french", [("12", ""), ("100", "")]),
        ("двенадцать недель", "russian", [("12", "")]),
        ("बारह सप्ताह", "hindi", [("12", "")]),
        ("dos semanas", "", []),
    ],
)
def test_numbers_that_are_words(text: str, language: str, found: list[tuple[str, str]]) -> None:
    assert figures(text, language) == found


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("12 kilometres, 3 miles and 2 kilometers", "english", [("12", "km"), ("3", "mi"), ("2", "km")]),
        ("7 percent, 8 per cent, seven per cent", "english", [("7", "%"), ("8", "%"), ("7", "%")]),
        ("12 Kilometer, 7 Prozent und 3 Stunden", "german", [("12", "km"), ("7", "%"), ("3", "h")]),
        ("12 kilomètres, 7 pour cent, cent jours", "french", [("12", "km"), ("7", "%"), ("100", "")]),
        ("el 7 por ciento de 3 metros", "spanish", [("7", "%"), ("3", "m")]),
        ("il 7 per cento o il 7 percento", "italian", [("7", "%"), ("7", "%")]),
        ("5 euros or $3 million, 3 million dollars", "english", [("5", "€"), ("3000000", "$"), ("3000000", "$")]),
        ("5 Kilo oder 3 Kilos", "german", [("5", "kg"), ("3", "kg")]),
        ("due chili e 5 chili", "italian", [("2", "kg"), ("5", "kg")]),
        ("5 Euro und 3 US-Dollar", "german", [("5", "€"), ("3", "")]),
        ("5 Pfund oder 7 Yen", "german", [("5", "£"), ("7", "¥")]),
        ("ab 3,20 Metern", "german", [("3.2", "m")]),
        ("a 1.9-litre tank and a 4-letter word", "english", [("1.9", "l"), ("4", "")]),
        ("5 kg metres", "english", [("5", "kg")]),
        ("5, metres", "english", [("5", "")]),
    ],
)
def test_units_and_currencies(text: str, language: str, found: list[tuple[str, str]]) -> None:
    assert figures(text, language) == found


@pytest.mark.parametrize(
    ("text", "language", "day", "month"),
    [
        ("on 3/4/2020", "english", "4", 3),
        ("on 13/4/2020", "english", "13", 4),
        ("on 3.4.2020", "english", "3", 4),
        ("am 3.4.2020", "german", "3", 4),
        ("le 03/04/2020", "french", "3", 4),
        ("le 4/13/2020", "french", "13", 4),
        ("on 2020-04-03", "english", "3", 4),
        ("am 2020-04-03", "german", "3", 4),
        ("في ٠٣/٠٤/٢٠٢٠", "arabic", "3", 4),
    ],
)
def test_dates_in_digits(text: str, language: str, day: str, month: int) -> None:
    assert numbers(text, language, "month") == [month]
    assert figures(text, language) == [(day, ""), ("2020", "")]


@pytest.mark.parametrize("text", ["00/01/2020", "0/0/2020", "2020-13-45", "31/13/2020", "2020-00-00", "45.3.2020"])
def test_what_is_no_date_is_none(text: str) -> None:
    assert numbers(text, "english", "month") == numbers(text, "german", "month") == []


def test_names_are_capitalised_where_no_sentence_begins() -> None:
    assert of_kind("The clerk was Ada Stern. Nobody knew.", "english", "name") == ["ada", "stern"]
    assert of_kind("Le greffier était Ada Stern. Personne ne le savait.", "french", "name") == ["ada", "stern"]
    assert of_kind("He said: “Never mind.” (Only he)", "english", "name") == []


def test_a_name_of_another_text_is_one_where_a_sentence_begins() -> None:
    known = find_names(tokens("It was built by Brannock.", "english"))
    assert known == {"brannock"}
    (first, *_) = tokens("Brannock built it.", "english", known)
    assert first.kind == "name"


def test_german_names_are_pairs_because_each_noun_has_a_capital() -> None:
    assert of_kind("Den Kessel wartet Anna Berg, und das Haus am See steht.", "german", "name") == ["anna", "berg"]
    assert of_kind("Der Kessel, Haus und Hof", "german", "name") == []


@pytest.mark.parametrize("language", ["english", "german", "french"])
def test_codes(language: str) -> None:
    assert of_kind("x RETRY_LIMIT y HX-200 z v2.4.1 und camelCase", language, "code") == [
        "retry_limit",
        "hx-200",
        "v2.4.1",
        "camelcase",
    ]
    (code,) = [token for token in tokens("the HX-200 pump", language) if token.kind == "code"]
    assert code.figure
    assert code.figure.values == {"200"}


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("It isn’t, is not, can't, never", "english", ["isn't", "not", "can't", "never"]),
        ("Es ist nicht so, kein Haus, nie", "german", ["nicht", "kein", "nie"]),
        ("Ce n'est pas, jamais", "french", ["n", "pas", "jamais"]),
        ("no hay ningún tren", "spanish", ["no", "ningun"]),
        ("यह नहीं है", "hindi", ["नहीं"]),
        ("это не так", "russian", ["не"]),
    ],
)
def test_negations(text: str, language: str, found: list[str]) -> None:
    assert of_kind(text, language, "negation") == found


@pytest.mark.parametrize(
    ("said", "there", "language", "wrong"),
    [
        ("before noon", "after noon", "english", True),
        ("after noon", "after noon", "english", False),
        ("before and after noon", "after noon", "english", False),
        ("vor der Wahl", "nach der Wahl", "german", True),
        ("nach der Wahl", "nach der Wahl", "german", False),
        ("antes de la boda", "después de la boda", "spanish", True),
        ("before noon", "after noon", "", False),
    ],
)
def test_small_words_that_cannot_both_be_meant(said: str, there: str, language: str, wrong: bool) -> None:
    assert has_opposite_word(tokens(said, language), tokens(there, language), language) is wrong


def test_the_arabic_and_is_no_part_of_the_number_after_it() -> None:
    found = [token for token in tokens("40 درهما و15 درهما", "arabic") if token.figure]
    assert [(token.text, token.kind) for token in found] == [("40", "figure"), ("15", "figure")]


def test_a_comma_opens_and_a_blank_does_not() -> None:
    assert [token.opens for token in tokens("one two, three (four) - five", "english")] == [
        False, False, True, True, True,
    ]  # fmt: skip


def test_scripts_without_spaces_are_read_character_by_character() -> None:
    assert [(token.text, token.kind) for token in tokens("合計12個", "")] == [
        ("合", "word"), ("計", "word"), ("12", "figure"), ("個", "word"),
    ]  # fmt: skip


def test_two_languages_have_tables_of_their_own() -> None:
    assert tables_of("english").months["march"] == tables_of("german").months["marz"] == 3
    assert "march" not in tables_of("german").months
    assert tables_of("tamil").months == {}


def test_what_is_known_of_small_words_is_of_languages_with_stop_words() -> None:
    assert set(NEGATIONS) == set(NUMBERS) <= set(STOP_WORDS)
    assert all(len(NUMBERS[language]) >= 10 for language in NUMBERS)
    for language, spelt in NUMBERS.items():
        assert not NEGATIONS[language] & set(spelt)


def check(read: list[Token], text: str) -> None:
    done = 0
    for token in read:
        assert done <= token.start < token.end <= len(text)
        # A date is three words at one place.
        done = token.start
        assert not token.terms or token.kind not in ("figure", "function", "negation") or token.figure


@given(
    st.text(max_size=200) | st.text(alphabet="01239./-, %€kmaAB\u0661\u00b2", max_size=60),
    st.sampled_from(sorted(NUMBERS)),
)
def test_any_text_is_read(text: str, language: str) -> None:
    check(tokens(text, language), text)


@pytest.mark.work(20)
@pytest.mark.parametrize("unit", ["a", "a.", "_", "1/", "1,", "A ", "12 345 ", "1 per ", "'", ", ", "नि"])
def test_work_is_bounded(unit: str) -> None:
    for language in ("english", "german"):
        tokens(unit * (50_000 // len(unit)), language)
