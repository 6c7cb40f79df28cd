"""A BERT of width 384 with products of 8-bit integers, which a CPU does two to three times as fast as those of floats.

That is all-MiniLM-L6-v2, which comes with us, and multilingual-e5-small, which a plugin makes.

The weights are int8 as they come; what they are multiplied with is quantised as the model runs, each token by its own
largest value (vector-wise quantisation). Four channels of either are much larger than all others and stay in floats, as
in LLM.int8() (Dettmers et al. 2022, section 3.2): most of the error would come from them. One text goes through at a
time, so nothing of its vector depends on another text, and no padding is computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anabranch.models.minilm.onnx_graph import CONTRIB, FLOAT, INT64, GraphBuilder, arrays

LAYERS = 6
_LINEAR_PER_LAYER = 6  # query, key, value, attended, widened, narrowed: the order of the file

Floats = NDArray[np.float32]

WIDTH, HEADS = 384, 12
_HEAD_WIDTH = WIDTH // HEADS
_NORM_EPSILON = 1e-12

# Of MiniLM, measured on 40 passages: in these channels some tokens reach 20 times the root mean square of the rest.
_OUTLIERS = np.array([63, 99, 157, 223])

# GELU is never below -0.17, so that its output takes the whole unsigned range once it is lifted by that much.
_GELU_LIFT = 0.17

# A token whose values are all 0 would be divided by 0.
_SMALLEST_SCALE = 1e-9


class Linear(NamedTuple):
    """One product: int8 of shape (in, out), a float scale and a bias per output."""

    weight: NDArray[np.int8]
    scale: Floats
    bias: Floats

    @property
    def values(self) -> Floats:
        """The weights as the floats that they stand for."""
        return np.asarray(self.weight * self.scale, dtype=np.float32)


class Norm(NamedTuple):
    """Gain and bias of one layer normalisation."""

    gain: Floats
    bias: Floats


class Layer(NamedTuple):
    """One transformer layer: attention from `mixing` (query, key and value side by side), then feed-forward."""

    mixing: Linear
    attended: Linear
    attended_norm: Norm
    widened: Linear
    narrowed: Linear
    narrowed_norm: Norm


class Weights(NamedTuple):
    """The whole encoder; `positions` has the embedding of token type 0 added, the only type that we use.

    `outliers` are the channels of the hidden states that stay in floats.
    """

    words: NDArray[np.int8]
    word_scales: Floats
    positions: Floats
    norm: Norm
    layers: list[Layer]
    outliers: NDArray[np.int64] = _OUTLIERS


def read_weights(model: bytes) -> Weights:
    """Take the weights out of the bundled `model.onnx`; its checksum has been compared already."""
    stored = arrays(model)
    embeddings = "inner.embeddings."
    position_values = stored[f"{embeddings}position_embeddings.weight_q"].astype(np.float32)
    return Weights(
        words=stored[f"{embeddings}word_embeddings.weight_q"],
        word_scales=stored[f"{embeddings}word_embeddings.weight_scale"],
        positions=position_values * stored[f"{embeddings}position_embeddings.weight_scale"]
        + stored[f"{embeddings}token_type_embeddings.weight"][0],
        norm=_norm(stored, f"{embeddings}LayerNorm"),
        layers=[_layer(stored, number) for number in range(LAYERS)],
    )


def _layer(stored: dict[str, NDArray[Any]], number: int) -> Layer:
    # The exporter gave linear weights numbers for names, and wrote them in the order of their use.
    names = [name for name in stored if name.startswith("val_") and name.endswith("_q")]
    used = names[number * _LINEAR_PER_LAYER : (number + 1) * _LINEAR_PER_LAYER]
    layer = f"inner.encoder.layer.{number}."
    biases = [
        *(f"attention.self.{part}" for part in ("query", "key", "value")),
        *("attention.output.dense", "intermediate.dense", "output.dense"),
    ]
    query, key, value, attended, widened, narrowed = (
        Linear(stored[name], stored[f"{name.removesuffix('_q')}_scale"][0], stored[f"{layer}{bias}.bias"])
        for name, bias in zip(used, biases, strict=True)
    )
    mixing = join_outputs([query, key, value])
    attended_norm = _norm(stored, f"{layer}attention.output.LayerNorm")
    return Layer(mixing, attended, attended_norm, widened, narrowed, _norm(stored, f"{layer}output.LayerNorm"))


def join_outputs(parts: list[Linear]) -> Linear:
    """Return one product that gives the outputs of all parts side by side."""
    weight = np.concatenate([part.weight for part in parts], axis=1)
    return Linear(weight, np.concatenate([part.scale for part in parts]), np.concatenate([part.bias for part in parts]))


def _norm(stored: dict[str, NDArray[Any]], name: str) -> Norm:
    return Norm(stored[f"{name}.weight"], stored[f"{name}.bias"])


class _Quantised(NamedTuple):
    """Names of tensors: uint8 of shape (tokens, in), the scale of each token, the level that stands for zero."""

    levels: str
    scale: str
    zero: str


def int8_encoder(weights: Weights) -> bytes:
    """Return an ONNX model that takes `input_ids` (1, tokens) to the last hidden state (1, tokens, 384)."""
    return _Encoder(weights.outliers).build(weights)


class _Encoder:
    def __init__(self, outliers: NDArray[np.int64]) -> None:
        self._outliers = outliers
        self._graph = graph = GraphBuilder()
        self._ids = graph.node("Reshape", graph.input("input_ids", INT64, (1, "tokens")), graph.constant([-1]))
        self._tokens = graph.node("Shape", self._ids)
        self._zeros = {level: self._zero_points(level) for level in (0, 128)}

    def build(self, weights: Weights) -> bytes:
        graph = self._graph
        hidden = self._embedded(weights)
        for layer in weights.layers:
            hidden = self._added(self._attended(hidden, layer), hidden, layer.attended_norm)
            hidden = self._added(self._fed_forward(hidden, layer), hidden, layer.narrowed_norm)
        output = graph.node("Reshape", hidden, graph.constant([1, -1, WIDTH]))
        return graph.model(output, FLOAT, (1, "tokens", WIDTH))

    def _embedded(self, weights: Weights) -> str:
        graph = self._graph
        levels = graph.node("Gather", graph.constant(weights.words), self._ids)
        scales = graph.node("Gather", graph.constant(weights.word_scales), self._ids)
        words = graph.node("Mul", graph.node("Cast", levels, to=FLOAT), scales)
        positions = graph.node("Slice", graph.constant(weights.positions), graph.constant([0]), self._tokens)
        return self._added(words, positions, weights.norm)

    def _attended(self, hidden: str, layer: Layer) -> str:
        graph = self._graph
        mixed = self._linear_with_outliers(hidden, _with_scaled_query(layer.mixing))
        split = graph.node("Reshape", mixed, graph.constant([-1, 3, HEADS, _HEAD_WIDTH]))
        by_head = graph.node("Transpose", split, perm=[1, 2, 0, 3])
        query, key, value = (graph.node("Gather", by_head, graph.constant(part), axis=0) for part in range(3))
        shares = graph.node("MatMul", query, graph.node("Transpose", key, perm=[0, 2, 1]))
        seen = graph.node("MatMul", graph.node("Softmax", shares, axis=-1), value)
        together = graph.node("Transpose", seen, perm=[1, 0, 2])
        rows = graph.node("Reshape", together, graph.constant([-1, WIDTH]))
        return self._linear(self._quantised(rows), layer.attended)

    def _fed_forward(self, hidden: str, layer: Layer) -> str:
        graph = self._graph
        wide = graph.node("Gelu", self._linear_with_outliers(hidden, layer.widened))
        lifted = graph.node("Add", wide, graph.constant(_GELU_LIFT))
        quantised = self._rows_quantised(lifted, peaks_of=lifted, steps=255, zero=0)
        narrowed = layer.narrowed
        # What the lift adds to each sum of products is the same for every token, so the bias takes it off again.
        bias = narrowed.bias - np.float32(_GELU_LIFT) * narrowed.values.sum(axis=0)
        return self._linear(quantised, narrowed._replace(bias=bias))

    def _added(self, left: str, right: str, norm: Norm) -> str:
        graph = self._graph
        gain, bias = graph.constant(norm.gain), graph.constant(norm.bias)
        return graph.node("LayerNormalization", graph.node("Add", left, right), gain, bias, epsilon=_NORM_EPSILON)

    def _linear_with_outliers(self, hidden: str, linear: Linear) -> str:
        graph = self._graph
        keep = np.ones(WIDTH, dtype=np.float32)
        keep[self._outliers] = 0
        common = self._product(self._quantised(graph.node("Mul", hidden, graph.constant(keep))), linear)
        large = graph.node("Gather", hidden, graph.constant(self._outliers), axis=1)
        weights = linear._replace(weight=linear.weight[self._outliers]).values
        exact = graph.node("Gemm", large, graph.constant(weights), graph.constant(linear.bias))
        return graph.node("Add", common, exact)

    def _linear(self, quantised: _Quantised, linear: Linear) -> str:
        return self._graph.node("Add", self._product(quantised, linear), self._graph.constant(linear.bias))

    def _product(self, quantised: _Quantised, linear: Linear) -> str:
        graph = self._graph
        weight, scale = graph.constant(linear.weight), graph.constant(linear.scale)
        inputs = (quantised.levels, weight, graph.constant(1.0), scale, quantised.zero)
        return graph.node("Mul", graph.node("MatMulIntegerToFloat", *inputs, domain=CONTRIB), quantised.scale)

    def _quantised(self, hidden: str) -> _Quantised:
        # Around 128 and not signed: the product of unsigned activations and signed weights is the one that CPUs have.
        return self._rows_quantised(hidden, peaks_of=self._graph.node("Abs", hidden), steps=127, zero=128)

    def _rows_quantised(self, hidden: str, *, peaks_of: str, steps: int, zero: int) -> _Quantised:
        graph = self._graph
        peaks = graph.node("ReduceMax", peaks_of, graph.constant([-1]), keepdims=1)
        scale = graph.node("Mul", peaks, graph.constant(1.0 / steps))
        scale = graph.node("Max", scale, graph.constant(_SMALLEST_SCALE))
        flat = graph.node("Reshape", scale, graph.constant([-1]))
        levels = graph.node("QuantizeLinear", hidden, flat, self._zeros[zero], axis=0)
        return _Quantised(levels, scale, graph.constant(np.uint8(zero)))

    def _zero_points(self, level: int) -> str:
        return self._graph.node("Expand", self._graph.constant(np.array([level], dtype=np.uint8)), self._tokens)


def _with_scaled_query(mixing: Linear) -> Linear:
    """Divide the scores of attention by the root of the head's width, at no cost: in the weights."""
    factor = np.ones(3 * WIDTH, dtype=np.float32)
    factor[:WIDTH] = _HEAD_WIDTH**-0.5
    return Linear(mixing.weight, mixing.scale * factor, mixing.bias * factor)
