"""A cross-encoder: a small real ONNX model, made here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from anabranch.errors import ModelError, SettingsError
from anabranch.models.rerankers.cross_encoder import CrossEncoderReranker

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "weir", "mill", "stone", "the"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model whose logit is how often the passage (segment 1) says `weir`; its tokenizer knows eight words."""
    return _model(tmp_path / "model", scale=1.0)


def _model(home: Path, scale: float) -> Path:
    home.mkdir()
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
        helper.make_node("Mul", ["sum", "scale"], ["logits"]),
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
    graph = helper.make_graph(nodes, "counter", slots, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, home / "model.onnx")
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(home / "tokenizer.json"))
    return home


async def test_pairs_are_scored_whatever_their_length_and_order(folder: Path) -> None:
    texts = ["the mill", "weir " * 40, "the weir and the weir", "", "weir"] * 5
    scores = await CrossEncoderReranker(str(folder)).relevance("weir weir weir", texts)
    assert scores == [0.0, 40.0, 2.0, None, 1.0] * 5


async def test_a_passage_too_long_is_cut_and_the_question_is_not(folder: Path) -> None:
    (score,) = await CrossEncoderReranker(str(folder)).relevance("the mill", ["weir " * 2000])
    assert score == pytest.approx(512 - 5)


async def test_a_folder_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="rerank_model"):
        CrossEncoderReranker(None)
    with pytest.raises(SettingsError, match=r"model\.onnx"):
        await CrossEncoderReranker(str(tmp_path)).relevance("q", ["a"])
    (tmp_path / "model.onnx").write_bytes(b"nonsense")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(SettingsError, match="cannot be loaded"):
        await CrossEncoderReranker(str(tmp_path)).relevance("q", ["a"])


async def test_scores_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    broken = _model(tmp_path / "nan", scale=float(np.nan))
    with pytest.raises(ModelError, match="no number"):
        await CrossEncoderReranker(str(broken)).relevance("weir", ["weir"])
