"""A small real ONNX embedder, made here: it looks token vectors up in a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "weir", "mill", "stone", "query:", "passage:"]
TABLE = np.random.default_rng(7).normal(size=(len(WORDS), 5)).astype(np.float32)
"""One row per word: the token's vector, whatever stands beside it."""


def table_model(
    home: Path,
    *,
    place: str = "model.onnx",
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    integers: int = TensorProto.INT64,
    pooled: bool = False,
    **settings: Any,
) -> Path:
    """Make a folder with a model of 5 dimensions and a tokenizer of nine words.

    Args:
        home: Folder to make.
        place: Where in it the model goes.
        inputs: Those that the model takes; only the first is used.
        integers: Their type.
        pooled: Whether the model has a second output `sentence_embedding`, the sum of the tokens.
        settings: Content of JSON files; `__` in a name stands for `/`.
    """
    (home / place).parent.mkdir(parents=True, exist_ok=True)
    slots = [helper.make_tensor_value_info(name, integers, ["batch", "sequence"]) for name in inputs]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", 5])]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    constants = [numpy_helper.from_array(TABLE, "table")]
    if pooled:
        outputs.append(helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", 5]))
        constants.append(helper.make_tensor("axes", TensorProto.INT64, [1], [1]))
        nodes.append(helper.make_node("ReduceSum", ["last_hidden_state", "axes"], ["sentence_embedding"], keepdims=0))
    graph = helper.make_graph(nodes, "table", slots, outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), home / place)
    _tokenizer().save(str(home / "tokenizer.json"))
    for name, content in settings.items():
        file = home / f"{name.replace('__', '/')}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(content), "utf-8")
    return home


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    # What exporters leave behind: no limit of the model's.
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4)
    return tokenizer


def rows_of(*words: str) -> Any:
    """Return the token vectors of these words, special ones around them."""
    return TABLE[[WORDS.index(word) for word in ("[CLS]", *words, "[SEP]")]]
