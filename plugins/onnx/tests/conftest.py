"""What an embedder computes is the subject here, so each test has it computed."""

from __future__ import annotations

import pytest

from anabranch.models.onnx_embedder import OnnxEmbedder
from tests.models.model_fixtures import COMPUTED


@pytest.fixture(autouse=True)
def _each_text_is_computed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OnnxEmbedder, "_pooled", COMPUTED)
