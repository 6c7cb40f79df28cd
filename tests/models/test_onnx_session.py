"""Sessions over a file and over its content."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anabranch.models.minilm.onnx_graph import FLOAT, GraphBuilder
from anabranch.models.onnx_session import open_session, sha256


@pytest.mark.parametrize("threads", [1, 3])
def test_a_file_and_its_content_are_the_same_model(tmp_path: Path, threads: int) -> None:
    graph = GraphBuilder()
    model = graph.model(graph.node("Exp", graph.input("taken", FLOAT, ("length",))), FLOAT, ("length",))
    file = tmp_path / "model.onnx"
    file.write_bytes(model)
    values = np.linspace(-2, 2, 1000, dtype=np.float32)
    for source in (model, str(file)):
        session = open_session(source, threads=threads)
        np.testing.assert_allclose(session.run(None, {"taken": values})[0], np.exp(values), rtol=1e-6)
        assert session.get_providers() == ["CPUExecutionProvider"]


def test_a_model_that_is_opened_tells_nobody_what_machine_it_runs_on(tmp_path: Path) -> None:
    # In a process of its own: this one may have opened a model before, with the variable set by another test.
    code = "from anabranch.models.embedders import load_embedder; load_embedder('minilm').embed(['weir'])"
    inherited = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", code], check=True, env={**inherited, "HOME": str(tmp_path)})
    # Where onnxruntime keeps what it will send.
    assert not list(tmp_path.rglob("*.onnxruntime*"))


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    for content in (b"", b"one", b"three", bytes(300_000)):
        file.write_bytes(content)
        assert sha256(file) == sha256(file) == hashlib.sha256(content).hexdigest()
