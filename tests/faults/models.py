"""An embedding model that loads in milliseconds: real files for onnxruntime, made here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

DIMENSION = 8
WORDS = [
    "[UNK]", "On", "day", "in", "hour", "of", "edition", "the", "gauge", "stood", "still", ".",
    *map(str, range(1_000)),
]  # fmt: skip


def make_model(home: Path, seed: int = 0) -> Path:
    """Write a model that looks each word up in a table; another seed makes another model."""
    home.mkdir(parents=True)
    table = np.random.default_rng(seed).standard_normal((len(WORDS), DIMENSION)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["hidden"])],
        "table",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"])],
        [helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["batch", "sequence", DIMENSION])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, home / "model.onnx")
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(home / "tokenizer.json"))
    return home
