"""One line of an ingest when the documents are in languages that the embedder reads badly."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.ingestion.pipeline import ingest
from anabranch.models.embedders import load_embedder
from anabranch.models.onnx_embedder import OnnxEmbedder

ENGLISH = "The weir was built in the year of the flood, and it holds back the water of the river for a day."
GERMAN = "Das Wehr wurde im Jahr der Flut gebaut, und es hält das Wasser des Flusses für einen Tag zurück."
RUSSIAN = "Плотина была построена в год наводнения и удерживает воду реки на один день."
TABLE = "Q1 2021 | 4,312 | 36 %\nQ2 2021 | 4,517 | 35 %"


def advice(corpus: Path, *documents: str) -> list[str]:
    return ingest(documents=documents, corpus=corpus).warnings


@pytest.mark.parametrize(("foreign", "share"), [(GERMAN, "50%"), (RUSSIAN, "50%")])
def test_the_share_and_the_option_are_named(foreign: str, share: str, tmp_path: Path) -> None:
    (line,) = advice(tmp_path / "c", ENGLISH, foreign)
    assert line.startswith(f"{share} of the new passages")
    assert "--embedder multilingual" in line


def test_documents_in_english_need_no_advice(tmp_path: Path) -> None:
    assert advice(tmp_path / "c", ENGLISH, TABLE) == []


def test_one_in_many_is_no_reason(tmp_path: Path) -> None:
    many = [f"{ENGLISH} It was note {number}." for number in range(10)]
    assert advice(tmp_path / "c", GERMAN, *many) == []


def test_a_run_that_takes_nothing_in_says_nothing(tmp_path: Path) -> None:
    assert advice(tmp_path / "c", GERMAN)
    assert advice(tmp_path / "c", GERMAN) == []


def test_an_embedder_of_many_languages_needs_no_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OnnxEmbedder, "is_multilingual", True)
    assert not load_embedder("minilm").reads("Cyrillic")
    assert advice(tmp_path / "c", RUSSIAN) == []
