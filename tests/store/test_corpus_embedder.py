"""Which embedder a corpus gets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch.errors import SettingsError
from anabranch.safety.operator import environment
from anabranch.store.corpus_embedder import embedder_of
from anabranch.store.stores import open_writer


@pytest.fixture
def own(own_model: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Make a folder the operator's embedder."""
    monkeypatch.setenv("ANABRANCH_EMBEDDER", str(own_model))
    environment.cache_clear()
    yield str(own_model)
    monkeypatch.undo()
    environment.cache_clear()


def test_the_operator_chooses_that_of_new_corpora(own: str, tmp_path: Path) -> None:
    with open_writer(tmp_path / "c") as writer:
        assert embedder_of(writer, "", None).spec == own


def test_the_other_variables_stay_unread(tmp_path: Path) -> None:
    environment.cache_clear()
    with open_writer(tmp_path / "c") as writer:
        embedder_of(writer, "", None)
    assert environment.cache_info().currsize == 0


def test_a_request_and_the_corpus_go_first(own: str, tmp_path: Path) -> None:
    with open_writer(tmp_path / "c") as writer:
        assert embedder_of(writer, "minilm", None).spec == "minilm"
        writer.keep_meta(embedder_of(writer, "minilm", None).facts)
        assert embedder_of(writer, "", None).spec == "minilm"


def test_an_embedder_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, own: str, tmp_path: Path) -> None:
    monkeypatch.setenv("ANABRANCH_EMBEDDER", "minilmm")
    environment.cache_clear()
    with open_writer(tmp_path / "c") as writer, pytest.raises(SettingsError, match="minilmm"):
        embedder_of(writer, "", None)
