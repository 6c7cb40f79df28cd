"""The unit of leaves: one for all embedders, and that of its embedder in a corpus from before."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.chunking.leaf_unit import LEAF_UNIT, WORDPIECE, WORDPIECE_AND_LETTERS, leaf_counter, unit_counter
from anabranch.errors import SettingsError
from anabranch.ingestion.pipeline import ingest
from anabranch.models.embedder import Vectors
from anabranch.models.embedders import load_embedder
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.maintenance.rebuild import rebuild

RIVER = " ".join(f"The weir of mill {number} holds back the water of the river for a day." for number in range(40))
GAUGE = " ".join(f"Gauge {number} is read at noon, and its figure is written into the book." for number in range(40))
DELTA = "دلتا النهر تتحرك كل عام. " * 20 + "河流三角洲每年移动约四十米。" * 20


class TokensAreLetters:
    """An embedder whose tokens are letters, so that its own leaves would be short."""

    name, dimension = "letters", 4

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.eye(4, dtype=np.float32)[[len(text) % 4 for text in texts]]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [(at, at + 1) for at in range(len(text))]


LETTERS = TokensAreLetters()


class ReadsAll(TokensAreLetters):
    """An embedder that reads many languages."""

    name, is_multilingual = "all", True


ALL = ReadsAll()


def leaves(corpus: Path) -> list[tuple[str, int]]:
    with closing(CorpusDatabase(corpus)) as database:
        return list(database.all("SELECT text, tokens FROM chunks WHERE level = 2 ORDER BY doc_id, start"))


def forget_unit(corpus: Path) -> None:
    with closing(CorpusDatabase(corpus)) as database, database.transaction():
        database.connection.execute("DELETE FROM meta WHERE name = ?", (LEAF_UNIT,))


def unit(corpus: Path) -> str | None:
    with closing(CorpusDatabase(corpus)) as database:
        return database.meta(LEAF_UNIT)


def test_another_embedder_gets_the_leaves_of_the_default(tmp_path: Path) -> None:
    ingest(documents=[RIVER, DELTA], corpus=tmp_path / "default")
    ingest(documents=[RIVER, DELTA], corpus=tmp_path / "letters", embedder=LETTERS)
    assert leaves(tmp_path / "letters") == leaves(tmp_path / "default")
    assert unit(tmp_path / "letters") == unit(tmp_path / "default") == WORDPIECE


def test_the_processes_that_read_files_count_the_same(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "river.md").write_text(RIVER, encoding="utf-8")
    ingest(tmp_path / "docs", tmp_path / "default")
    ingest(tmp_path / "docs", tmp_path / "letters", embedder=LETTERS)
    assert leaves(tmp_path / "letters") == leaves(tmp_path / "default")


def test_an_embedder_of_many_languages_gets_the_same_leaves_of_latin_script_and_chinese(tmp_path: Path) -> None:
    many = [RIVER, "Größe, naïve façade: ąęłż. " * 60, "河流三角洲每年移动约四十米。" * 60]
    ingest(documents=many, corpus=tmp_path / "default")
    ingest(documents=many, corpus=tmp_path / "all", embedder=ALL)
    assert leaves(tmp_path / "all") == leaves(tmp_path / "default")
    assert unit(tmp_path / "all") == WORDPIECE_AND_LETTERS


def test_its_leaves_of_other_scripts_hold_more_than_two_lines(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "delta.md").write_text("دلتا النهر تتحرك كل عام. " * 40, encoding="utf-8")
    ingest(tmp_path / "docs", tmp_path / "default")
    ingest(tmp_path / "docs", tmp_path / "all", embedder=ALL)
    assert len(leaves(tmp_path / "default")) > 2 * len(leaves(tmp_path / "all"))
    for text, tokens in leaves(tmp_path / "all"):
        assert unit_counter(WORDPIECE_AND_LETTERS).count([text]) == [tokens]
        assert tokens <= 128 < 6 * tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("the weir", 2),
        ("плотина была", 3),  # 7 letters and 4
        ("الدلتا", 2),
        ("서울은", 2),  # three syllables
        ("नदी का", 2),  # with their vowels
        ("ทดสอบภาษาไทย", 3),
        ("река weir 河流", 4),
        ("", 0),
    ],
)
def test_letters_are_counted_by_the_word(text: str, tokens: int) -> None:
    assert unit_counter(WORDPIECE_AND_LETTERS).count([text]) == [tokens]


@given(st.text(alphabet="weir 河流 плотина دلتا हिन्दी ทดสอบ 서울 é\u0301\n.,7") | st.text())
def test_the_spans_are_the_tokens(text: str) -> None:
    counter = unit_counter(WORDPIECE_AND_LETTERS)
    spans = counter.offsets(text)
    assert [len(spans)] == counter.count([text])
    assert spans == sorted(spans)
    assert all(0 <= start <= end <= len(text) for start, end in spans)


@given(st.text(alphabet="weir WEIR éßøą 河流 0123 .,;:-'\n\u0301"))
def test_what_word_pieces_can_write_is_counted_as_before(text: str) -> None:
    assert unit_counter(WORDPIECE_AND_LETTERS).count([text]) == unit_counter(WORDPIECE).count([text])


def test_a_corpus_from_before_keeps_the_unit_of_its_embedder(tmp_path: Path) -> None:
    corpus = tmp_path / "c"
    ingest(documents=[RIVER], corpus=corpus, embedder=LETTERS)
    forget_unit(corpus)
    ingest(documents=[GAUGE], corpus=corpus, embedder=LETTERS)
    (found,) = {tokens for text, tokens in leaves(corpus) if text.startswith("Gauge 0 ")}
    assert max(len(text) for text, _ in leaves(corpus) if text.startswith("Gauge")) <= 128
    assert found <= 128
    assert not unit(corpus)


def test_a_corpus_of_the_default_from_before_has_the_unit_already(tmp_path: Path) -> None:
    corpus = tmp_path / "c"
    ingest(documents=[RIVER], corpus=corpus)
    forget_unit(corpus)
    ingest(documents=[GAUGE], corpus=corpus)
    assert unit(corpus) == WORDPIECE


def test_a_rebuild_offers_the_shared_leaves(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    corpus = tmp_path / "c"
    ingest(documents=[RIVER], corpus=corpus, embedder=LETTERS)
    with caplog.at_level(logging.WARNING):
        rebuild(corpus)
    assert not caplog.records
    forget_unit(corpus)
    with caplog.at_level(logging.WARNING):
        rebuild(corpus)
    assert "measured in tokens of its embedder" in caplog.text
    rebuild(corpus, embedder="minilm")
    assert unit(corpus) == WORDPIECE


def test_a_unit_of_a_later_version_is_refused(tmp_path: Path) -> None:
    corpus = tmp_path / "c"
    ingest(documents=[RIVER], corpus=corpus)
    with closing(CorpusDatabase(corpus)) as database, database.transaction():
        database.set_meta(LEAF_UNIT, "syllables")
    with pytest.raises(SettingsError, match="'syllables'"):
        ingest(documents=[GAUGE], corpus=corpus)


def test_the_default_counts_itself() -> None:
    embedder = load_embedder("minilm")
    assert leaf_counter(WORDPIECE, embedder) is embedder
