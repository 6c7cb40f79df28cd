"""Whether this processor adds up products of bytes exactly."""

from __future__ import annotations

import numpy as np

from anabranch.models.minilm.onnx_graph import INT32, UINT8, GraphBuilder
from anabranch.models.onnx_session import open_session

_LENGTH, _LARGEST, _LARGEST_SIGNED = 64, 255, 127


def saturates() -> bool:
    """Multiply the largest bytes there are, and see if the sum comes out short.

    x86 processors without VNNI add two products of an unsigned and a signed byte in 16 bits, and clip what does not
    fit. The option `session.x64quantprecision` of onnxruntime avoids it, but takes twice the time on any x86.
    """
    graph = GraphBuilder()
    weight = graph.constant(np.full((_LENGTH, _LENGTH), _LARGEST_SIGNED, dtype=np.int8))
    product = graph.node("MatMulInteger", graph.input("levels", UINT8, ("rows", _LENGTH)), weight)
    session = open_session(graph.model(product, INT32, ("rows", _LENGTH)), threads=1)
    found = session.run(None, {"levels": np.full((4, _LENGTH), _LARGEST, dtype=np.uint8)})[0]
    return bool((found != _LENGTH * _LARGEST * _LARGEST_SIGNED).any())
