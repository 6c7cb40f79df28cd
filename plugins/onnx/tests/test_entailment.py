"""Inference by a local model: small real ONNX models, made here, whose logits depend on what they read."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from anabranch.errors import ModelError, SettingsError
from anabranch_onnx.entailment_model import MAX_TOKENS, open_entailment

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "holds", "leaks", "the"]
LABELS = ("entailment", "contradiction", "neutral")


def model(
    home: Path,
    labels: tuple[str, ...] = LABELS,
    *,
    scale: float = 5.0,
    outputs: int = 3,
    integers: int = TensorProto.INT64,
) -> Path:
    """Make a model that counts in its claim (segment 1) "holds" for its first label, "leaks" for its second."""
    home.mkdir()
    slots = [
        helper.make_tensor_value_info(name, integers, ["batch", "sequence"]) for name in ("input_ids", "token_type_ids")
    ]
    constants = [
        helper.make_tensor("scale", TensorProto.FLOAT, [1], [scale]),
        helper.make_tensor("axes", TensorProto.INT64, [1], [1]),
        helper.make_tensor("half", TensorProto.FLOAT, [1, 1], [2.5]),
    ]
    nodes = [helper.make_node("Cast", ["token_type_ids"], ["segment"], to=TensorProto.FLOAT)]
    for word in ("holds", "leaks"):
        constants.append(helper.make_tensor(word, integers, [1], [WORDS.index(word)]))
        nodes += [
            helper.make_node("Equal", ["input_ids", word], [f"{word}_at"]),
            helper.make_node("Cast", [f"{word}_at"], [f"{word}_hit"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{word}_hit", "segment"], [f"{word}_in"]),
            helper.make_node("ReduceSum", [f"{word}_in", "axes"], [f"{word}_sum"], keepdims=1),
            helper.make_node("Mul", [f"{word}_sum", "scale"], [f"{word}_logit"]),
        ]
    parts = ["holds_logit", "leaks_logit", "half"][:outputs]
    nodes.append(helper.make_node("Concat", parts, ["logits"], axis=1))
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", outputs])
    graph = helper.make_graph(nodes, "inference", slots, [logits], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), home / "model.onnx")
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(home / "tokenizer.json"))
    (home / "config.json").write_text(json.dumps({"id2label": dict(enumerate(labels))}))
    return home


PAIRS = [("it holds", "leaks leaks"), ("the weir leaks", "the weir"), ("das Wehr", "holds"), ("", "")]


@pytest.mark.parametrize("integers", [TensorProto.INT64, TensorProto.INT32])
def test_a_claim_is_judged_by_what_it_says(tmp_path: Path, integers: int) -> None:
    loaded = open_entailment(str(model(tmp_path / "nli", integers=integers)))
    assert loaded.judge(PAIRS) == ["entailed", "contradicted", "not_said", "not_said"]
    assert loaded.judge([]) == []


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("CONTRADICTION", "ENTAILMENT", "NEUTRAL"), ["contradicted", "entailed", "not_said", "not_said"]),
        (("neutral", "entailment", "contradiction"), ["not_said", "entailed", "contradicted", "contradicted"]),
    ],
)
def test_labels_stand_in_any_order(tmp_path: Path, labels: tuple[str, ...], expected: list[str]) -> None:
    assert open_entailment(str(model(tmp_path / "nli", labels))).judge(PAIRS) == expected


def test_ten_labels_are_ordered_as_numbers(tmp_path: Path) -> None:
    home = model(tmp_path / "nli")
    labels = {str(number): LABELS[number] for number in (2, 0, 1)}
    (home / "config.json").write_text(json.dumps({"id2label": labels}))
    assert open_entailment(str(home)).judge(PAIRS[:2]) == ["entailed", "contradicted"]


def test_what_is_not_sure_is_not_said(tmp_path: Path) -> None:
    assert open_entailment(str(model(tmp_path / "nli", scale=2.51))).judge(PAIRS[:2]) == ["not_said", "not_said"]


def test_long_evidence_leaves_room_for_the_claim(tmp_path: Path) -> None:
    loaded = open_entailment(str(model(tmp_path / "nli")))
    assert loaded.judge([("it holds", "the " * 5 * MAX_TOKENS)]) == ["entailed"]


def test_two_folders_do_not_share_a_model(tmp_path: Path) -> None:
    one = model(tmp_path / "one")
    other = model(tmp_path / "other", ("contradiction", "entailment", "neutral"))
    assert open_entailment(str(one)).judge(PAIRS[:1]) == ["entailed"]
    assert open_entailment(str(other)).judge(PAIRS[:1]) == ["contradicted"]
    assert open_entailment(str(one)).judge(PAIRS[:1]) == ["entailed"]
    assert open_entailment(str(one)) is open_entailment(str(one))


@pytest.mark.parametrize("scale", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_are_an_error(tmp_path: Path, scale: float) -> None:
    loaded = open_entailment(str(model(tmp_path / "nli", scale=scale)))
    with pytest.raises(ModelError, match="scores that cannot be read"):
        loaded.judge(PAIRS)


def test_fewer_scores_than_labels_are_an_error(tmp_path: Path) -> None:
    loaded = open_entailment(str(model(tmp_path / "nli", outputs=2)))
    with pytest.raises(ModelError) as raised:
        loaded.judge(PAIRS)
    assert "id2label" in raised.value.hint


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}},
        {"id2label": {"0": "positive", "1": "negative"}},
        {"id2label": {"0": "entailment", "1": "not_entailment"}},
        {"id2label": {"x": "entailment", "y": "contradiction"}},
        {"id2label": ["entailment"]},
    ],
)
def test_other_labels_are_an_error(tmp_path: Path, config: dict[str, object]) -> None:
    home = model(tmp_path / "nli")
    (home / "config.json").write_text(json.dumps(config))
    with pytest.raises(SettingsError, match="not one of inference") as raised:
        open_entailment(str(home))
    assert "entailment, neutral and contradiction" in raised.value.hint


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_an_error(tmp_path: Path, missing: str) -> None:
    home = model(tmp_path / "nli")
    (home / missing).unlink()
    with pytest.raises(SettingsError) as raised:
        open_entailment(str(home))
    assert str(home) in raised.value.message
    assert raised.value.hint


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_damaged_file_is_an_error(tmp_path: Path, damaged: str) -> None:
    home = model(tmp_path / "nli")
    (home / damaged).write_text("no")
    with pytest.raises(SettingsError, match=r"cannot be (?:loaded|read)"):
        open_entailment(str(home))


@pytest.mark.parametrize("folder", ["", "/nowhere/at/all"])
def test_no_folder_is_an_error(folder: str) -> None:
    with pytest.raises(SettingsError) as raised:
        open_entailment(folder)
    assert raised.value.hint
