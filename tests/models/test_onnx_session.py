"""Sessions over a file and over its content."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anabranch.models.minilm.onnx_graph import FLOAT, GraphBuilder
from anabranch.models.onnx_session import open_session


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
