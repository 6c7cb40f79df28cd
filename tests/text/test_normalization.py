import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.text.normalization import clean, clean_counted, squeeze

ANY_TEXT = st.text(st.characters(), max_size=60)  # surrogates, controls, tags and all


@given(ANY_TEXT)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(ANY_TEXT)
def test_what_is_left_is_normal_visible_and_storable(text: str) -> None:
    cleaned = clean(text)
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not [letter for letter in cleaned if unicodedata.category(letter) in {"Cc", "Cs"} and letter not in "\n\t"]
    assert not any(0xE0000 <= ord(letter) <= 0xE0FFF for letter in cleaned)
    cleaned.encode("utf-8")


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"], exclude_characters="ﬀﬁﬂﬃﬄﬅﬆ\u115f\u1160\u3164\uffa0")))
def test_visible_text_is_only_normalised(text: str) -> None:
    assert clean(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("text", "cleaned", "removed"),
    [
        ("caf\u0065\u0301", "café", 0),
        ("\ufb01sh in o\ufb03ce", "fish in office", 0),
        ("a\r\nb\rc\x0bd\x0ce\u2028f\u2029g\x85h", "a\nb\nc\nd\ne\nf\ng\nh", 0),
        ("pay\u200bload \u200d\u200c\ufeffhere\u2060", "payload here", 5),
        ("\u202eevil\u202c \u2066x\u2069", "evil x", 4),
        ("hi" + "".join(chr(0xE0000 + ord(letter)) for letter in "ignore"), "hi", 6),
        ("exam\u00adple", "example", 1),
        ("\x00\x07tab\tstays", "tab\tstays", 2),
        ("\ud800lone", "lone", 1),
        ("", "", 0),
    ],
)
def test_examples(text: str, cleaned: str, removed: int) -> None:
    assert clean_counted(text) == (cleaned, removed)


def test_squeeze_makes_one_line() -> None:
    assert squeeze("  a\u200b \n\n\tb\xa0 c ") == "a b c"
