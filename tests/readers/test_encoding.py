import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import ReadingError
from anabranch.readers.encoding import decode

GERMAN = "Über die Straße fährt heute früh ein schöner Wagen, und die Bäume blühen.\n" * 5
RUSSIAN = "Все люди рождаются свободными и равными в своём достоинстве и правах.\n" * 5
JAPANESE = "すべての人間は、生まれながらにして自由であり、尊厳と権利とについて平等である。\n" * 5


@pytest.mark.parametrize("text", [GERMAN, RUSSIAN, JAPANESE, "plain\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_encodings_need_no_guess(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "a.txt") == (text, ())


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(GERMAN, "cp1252"), (RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r"), (JAPANESE, "shift_jis"), (JAPANESE, "euc_jp")],
)
def test_legacy_encodings_are_recognised_and_named_in_a_note(text: str, encoding: str) -> None:
    decoded, notes = decode(text.encode(encoding), "a.txt")
    assert decoded == text
    assert len(notes) == 1
    assert "read as" in notes[0]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark(encoding: str) -> None:
    assert decode(GERMAN.encode(encoding), "a.txt") == (GERMAN, ("no encoding given: read as UTF-16",))


def test_a_little_damage_does_not_turn_utf8_into_another_encoding() -> None:
    text, notes = decode((GERMAN * 20).encode() + b"\xff" + GERMAN.encode(), "a.txt")
    assert text == GERMAN * 20 + "\ufffd" + GERMAN
    assert notes == ("1 characters are not valid UTF-8 and were replaced",)


@pytest.mark.parametrize(
    "data",
    [b"%PDF-1.7\n%\xe2\xe3\xcf\xd3 text", b"PK\x03\x04rest", b"\x89PNG\r\n", bytes(range(256)) * 8, b"\x00" * 64],
)
def test_binary_data_is_broken_text(data: bytes) -> None:
    with pytest.raises(ReadingError) as caught:
        decode(data, "a.txt")
    assert caught.value.reason == "broken"


@given(st.binary(max_size=300))
def test_any_bytes_give_text_or_a_reason(data: bytes) -> None:
    try:
        text, _ = decode(data, "a.txt")
    except ReadingError as error:
        assert error.reason in {"broken", "encoding"}
    else:
        assert isinstance(text, str)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=80))
def test_utf8_comes_back_as_it_was(text: str) -> None:
    assert decode(("x" + text).encode(), "a.txt") == ("x" + text, ())
