"""The weights of the bundled model, under the names of what they do."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anabranch.models.minilm.onnx_graph import arrays

LAYERS = 6
_LINEAR_PER_LAYER = 6  # query, key, value, attended, widened, narrowed: the order of the file

Floats = NDArray[np.float32]


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
    """The whole encoder; `positions` has the embedding of token type 0 added, the only type that we use."""

    words: NDArray[np.int8]
    word_scales: Floats
    positions: Floats
    norm: Norm
    layers: list[Layer]


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
    mixing = _side_by_side([query, key, value])
    attended_norm = _norm(stored, f"{layer}attention.output.LayerNorm")
    return Layer(mixing, attended, attended_norm, widened, narrowed, _norm(stored, f"{layer}output.LayerNorm"))


def _side_by_side(parts: list[Linear]) -> Linear:
    weight = np.concatenate([part.weight for part in parts], axis=1)
    return Linear(weight, np.concatenate([part.scale for part in parts]), np.concatenate([part.bias for part in parts]))


def _norm(stored: dict[str, NDArray[Any]], name: str) -> Norm:
    return Norm(stored[f"{name}.weight"], stored[f"{name}.bias"])
