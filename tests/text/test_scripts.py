"""The scripts of letters, and what follows for an embedder that reads only some."""

from __future__ import annotations

import pytest

from anabranch.text.scripts import letters_by_script, main_script, script_of


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("When was the weir built?", "Latin"),
        ("Wann wurde das Wehr größer?", "Latin"),
        ("Когда построили плотину?", "Cyrillic"),
        ("متى بني السد؟", "Arabic"),
        ("堰はいつ造られましたか", "Hiragana"),
        ("水坝是什么时候建的", "Han"),
        ("둑은 언제 지어졌나요", "Hangul"),
        ("Πότε χτίστηκε;", "Greek"),
        ("FAISS का क्या अर्थ है", "Devanagari"),
        ("\uff37\uff25\uff29\uff32", "Latin"),
        ("2012 - 15 %", ""),
        ("", ""),
    ],
)
def test_the_script_of_most_letters(text: str, script: str):
    assert main_script(text) == script


def test_letters_are_counted_and_nothing_else():
    assert letters_by_script("Lyft 2021 и BM25") == {"Latin": 6, "Cyrillic": 1}
    assert script_of("7") == script_of("_") == ""
