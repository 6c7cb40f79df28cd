"""Sums of products of bytes, with the setting that the processor's answer leads to."""

from __future__ import annotations

import numpy as np
import pytest

from anabranch.models.minilm.cpu_features import saturates
from anabranch.models.minilm.onnx_graph import INT32, UINT8, GraphBuilder
from anabranch.models.onnx_session import open_session


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
