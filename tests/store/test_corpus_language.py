"""Which language a corpus is taken for, and what that does to its search."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from anabranch.errors import SettingsError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_handles import open_folder
from anabranch.store.corpus_language import SAMPLE, language_of
from anabranch.store.index.manifest import current_name, read_manifest
from anabranch.store.maintenance import verify
from anabranch.store.protocol import Scope
from tests.cli.conftest import Run, run, write_rows  # noqa: F401  # a fixture

# Article 1 and the beginning of article 2 of the Universal Declaration of Human Rights.
TEXTS = {
    "english": "All human beings are born free and equal in dignity and rights. They are endowed with reason and "
    "conscience and should act towards one another in a spirit of brotherhood.",
    "german": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen "
    "begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
    "french": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de "
    "conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
    "spanish": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y "
    "conciencia, deben comportarse fraternalmente los unos con los otros.",
    "italian": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione e di "
    "coscienza e devono agire gli uni verso gli altri in spirito di fratellanza.",
    "portuguese": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de "
    "consciência, devem agir uns para com os outros em espírito de fraternidade.",
    "dutch": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met verstand en "
    "geweten, en behoren zich jegens elkander in een geest van broederschap te gedragen.",
    "swedish": "Alla människor är födda fria och lika i värde och rättigheter. De är utrustade med förnuft och samvete "
    "och bör handla gentemot varandra i en anda av broderskap.",
    "danish": "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og "
    "samvittighed, og de bør handle mod hverandre i en broderskabets ånd. Enhver har krav på alle de rettigheder og "
    "friheder, som nævnes i denne erklæring, uden forskelsbehandling af nogen art.",
    "norwegian": "Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter. De er utstyrt med "
    "fornuft og samvittighet og bør handle mot hverandre i brorskapets ånd. Enhver har krav på alle de rettigheter og "
    "friheter som er nevnt i denne erklæring, uten forskjell av noen art.",
    "finnish": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu järki "
    "ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden hengessä. Jokainen on oikeutettu kaikkiin tässä "
    "julistuksessa esitettyihin oikeuksiin ja vapauksiin ilman minkäänlaista erotusta.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_paragraph_tells_its_language(language: str) -> None:
    found = language_of([TEXTS[language]])
    assert found == language or {found, language} == {"danish", "norwegian"}


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""],
        ["Würde und Rechte"],
        ["def index(der, die, das):\n    return der + die + das"],
        ["1,2,3\n4,5,6"],
        ["Все люди рождаются свободными и равными"],
        [TEXTS["english"], TEXTS["german"]],
    ],
    ids=["nothing", "empty", "too little", "code", "numbers", "another script", "two languages"],
)
def test_what_is_not_certain_is_english(texts: list[str]) -> None:
    assert language_of(texts) == "english"


def corpus_of(home: Path, *texts: str, language: str = "") -> Path:
    rows = [{"_id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    ingest([write_rows(home / "texts.jsonl", *rows)], home / "corpus", language=language)
    return home / "corpus"


def language_in(corpus: Path) -> str:
    return read_manifest(corpus, current_name(corpus) or "").language


def bm25(corpus: Path, query: str) -> int:
    (found,) = asyncio.run(open_folder(corpus).search("bm25", [query], 10, Scope()))
    return len(found["ids"])


def test_a_german_corpus_is_stemmed_and_stopped_as_german(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, TEXTS["german"], "Die Häuser am Fluss wurden von den Bürgern gebaut.")
    assert language_in(corpus) == "german"
    assert bm25(corpus, "Haus Bürger") == 1
    assert bm25(corpus, "die und von den wurden") == 0
    assert verify(corpus) == []


def test_an_arabic_corpus_is_stemmed_as_arabic_and_its_english_as_english(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, "تقع المدينة على ضفاف النهر", "كُتِبَ الكتاب about running rivers")
    assert language_in(corpus) == "english"
    assert bm25(corpus, "نهر") == 1
    assert bm25(corpus, "كتب river runs") == 1
    assert bm25(corpus, "على") == 0


def test_a_small_corpus_may_still_become_another(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, TEXTS["english"])
    assert language_in(corpus) == "english"
    corpus_of(tmp_path, *[TEXTS["german"]] * 4)
    assert language_in(corpus) == "german"
    assert bm25(corpus, "Menschen") == 4
    corpus_of(tmp_path, TEXTS["english"], *[TEXTS["german"]] * 4)
    assert language_in(corpus) == "german"
    assert verify(corpus) == []


def test_a_language_is_settled_once_there_is_enough(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, *[f"{TEXTS['english']} {number}" for number in range(SAMPLE)])
    with closing(CorpusDatabase(corpus)) as database:
        assert database.meta("language") == "english"


def test_whoever_names_a_language_gets_it(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, TEXTS["english"], language="none")
    assert language_in(corpus) == "none"
    assert (bm25(corpus, "the rights and"), bm25(corpus, "right")) == (1, 0)
    # Nothing but the language has changed.
    corpus_of(tmp_path, TEXTS["english"], language="english")
    assert language_in(corpus) == "english"
    assert bm25(corpus, "right") == 1
    assert verify(corpus) == []


def test_an_unknown_language_is_refused_before_the_work(run: Run, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "a.md").write_text("A weir.", "utf-8")
    result = run("ingest", tmp_path / "a.md", "--corpus", tmp_path / "corpus", "--language", "klingon")
    assert result.exit_code == 2
    assert "german" in result.stderr
    assert not (tmp_path / "corpus").exists()
    with pytest.raises(SettingsError, match="klingon"):
        ingest([tmp_path / "a.md"], tmp_path / "corpus", language="klingon")
    assert run("ingest", tmp_path / "a.md", "--corpus", tmp_path / "corpus", "--language", "german").exit_code == 0
    assert language_in(tmp_path / "corpus") == "german"
