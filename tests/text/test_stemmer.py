"""Each word gets the stop words and the stemmer of its language or script."""

from __future__ import annotations

import pytest
import Stemmer

from anabranch.errors import SettingsError
from anabranch.text.analyzer import Analyser
from anabranch.text.stemmer import Stemming, languages
from anabranch.text.stopwords import STOP_WORDS


@pytest.mark.parametrize("language", STOP_WORDS)
def test_a_question_of_stop_words_has_no_terms(language: str) -> None:
    assert Analyser(language).terms(" ".join(STOP_WORDS[language])) == []


@pytest.mark.parametrize("language", STOP_WORDS)
def test_stop_words_are_of_a_language_that_has_a_stemmer(language: str) -> None:
    assert language in languages()
    assert all(word == word.casefold() for word in STOP_WORDS[language])


@pytest.mark.parametrize(
    ("corpus", "word", "language"),
    [
        ("english", "rivers", "english"),
        ("english", "реки", "russian"),
        ("english", "الكتاب", "arabic"),
        ("english", "ποταμοί", "greek"),
        ("english", "नदियों", "hindi"),
        ("german", "flüsse", "german"),
        ("german", "реки", "russian"),
        ("russian", "rivers", "english"),
        ("serbian", "реке", "serbian"),
        ("serbian", "reke", "serbian"),
        ("nepali", "नदी", "nepali"),
        ("yiddish", "טייך", "yiddish"),
        ("english", "נהר", "none"),
        ("none", "rivers", "none"),
        ("none", "реки", "none"),
    ],
)
def test_a_word_in_another_script_is_of_another_language(corpus: str, word: str, language: str) -> None:
    assert Stemming(corpus).language_of(word) == language


@pytest.mark.parametrize("language", languages())
def test_every_language_works(language: str) -> None:
    stemming = Stemming(language)
    assert stemming.stem("2024") == "2024"
    taken = stemming.language_of("weirs")
    expected = "weirs" if taken == "none" else Stemmer.Stemmer(taken).stemWord("weirs")
    assert stemming.stem("weirs") == expected


def test_the_name_changes_with_the_release_of_the_stemmers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch.text.stemmer.Stemmer.version", lambda: "2.2.0")
    assert Analyser("german").name == "words-2:german:2.2"


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"'klingon'.*german"):
        Stemming("klingon")
