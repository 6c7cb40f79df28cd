"""Folders as sentence-transformers, transformers.js and optimum leave them, on small real models made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from anabranch.errors import SettingsError
from anabranch.models.embedder import embed_queries
from anabranch.models.embedders import load_embedder, resolve_spec
from anabranch_onnx.sentence_folder import MAX_TOKENS, OnnxFolders, read_folder
from plugins.onnx.tests.sentence_models import rows_of, table_model

TEXT = "weir mill stone mill weir"
TOKENS = rows_of(*TEXT.split())
WEIGHTS = np.arange(1, 8, dtype=np.float32)[:, None]


def unit(vector: Any) -> Any:
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (None, TOKENS.mean(axis=0)),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, TOKENS.mean(axis=0)),
        ({"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}, TOKENS[0]),
        ({"pooling_mode_max_tokens": True}, TOKENS.max(axis=0)),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, TOKENS.sum(axis=0) / np.sqrt(7)),
        ({"pooling_mode_weightedmean_tokens": True}, (TOKENS * WEIGHTS).sum(axis=0)),
        ({"pooling_mode_lasttoken": True}, TOKENS[-1]),
        ({"pooling_mode": "cls"}, TOKENS[0]),
    ],
)
def test_pooling_is_what_the_folder_says(tmp_path: Path, config: dict[str, Any] | None, expected: Any) -> None:
    settings = {"1_Pooling__config": config} if config is not None else {}
    (vector,) = OnnxFolders.load(table_model(tmp_path, **settings)).embed([TEXT])
    np.testing.assert_allclose(vector, unit(expected), atol=1e-6)


@pytest.mark.parametrize(
    "config",
    [
        {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True},
        {"pooling_mode": "attention"},
        {"pooling_mode": ["mean", "cls"]},
    ],
)
def test_pooling_that_is_not_supported_is_refused(tmp_path: Path, config: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"1_Pooling/config\.json"):
        OnnxFolders.load(table_model(tmp_path, **{"1_Pooling__config": config}))


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({}, 256),
        ({"sentence_bert_config": {"max_seq_length": 5}}, 5),
        ({"sentence_bert_config": {"max_seq_length": None}, "config": {"max_position_embeddings": 512}}, 512),
        ({"sentence_bert_config": {"max_seq_length": 512}, "config": {"max_position_embeddings": 128}}, 128),
        ({"config": {"max_position_embeddings": 514, "model_type": "xlm-roberta"}}, 512),
        ({"tokenizer_config": {"model_max_length": 1e30}}, 256),
        ({"tokenizer_config": {"model_max_length": 384}, "config": {"max_position_embeddings": 512}}, 384),
        ({"config": {"max_position_embeddings": 1_000_000}}, MAX_TOKENS),
    ],
)
def test_the_limit_is_the_models_and_not_that_of_its_export(
    tmp_path: Path, settings: dict[str, Any], limit: int
) -> None:
    embedder = OnnxFolders.load(table_model(tmp_path, **settings))
    cut, whole = embedder.embed(["weir " * (limit - 2) + "mill " * 50, "weir " * (limit - 2)])
    np.testing.assert_array_equal(cut, whole)
    longer, shorter = embedder.embed(["weir " * (limit - 3) + "mill", "weir " * (limit - 3)])
    assert not np.array_equal(longer, shorter)


@pytest.mark.parametrize("names", [("query", "document"), ("query", "passage"), ("query", "corpus")])
def test_prompts_stand_in_front_of_questions_and_passages(tmp_path: Path, names: tuple[str, str]) -> None:
    prompts = dict(zip(names, ("query: ", "passage: "), strict=True))
    embedder = OnnxFolders.load(table_model(tmp_path, config_sentence_transformers={"prompts": prompts}))
    np.testing.assert_allclose(embedder.embed(["weir"])[0], unit(rows_of("passage:", "weir").mean(axis=0)), atol=1e-6)
    question = embed_queries(embedder, ["weir"])
    np.testing.assert_allclose(question[0], unit(rows_of("query:", "weir").mean(axis=0)), atol=1e-6)
    assert embedder.count(["weir"]) == [1]


def test_a_default_prompt_stands_in_front_of_both(tmp_path: Path) -> None:
    settings = {"prompts": {"sts": "mill "}, "default_prompt_name": "sts"}
    embedder = OnnxFolders.load(table_model(tmp_path, config_sentence_transformers=settings))
    np.testing.assert_array_equal(embedder.embed(["weir"]), embedder.embed_queries(["weir"]))
    np.testing.assert_allclose(embedder.embed(["weir"])[0], unit(rows_of("mill", "weir").mean(axis=0)), atol=1e-6)


@pytest.mark.parametrize(
    "place", ["model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx"]
)
def test_the_model_is_found_where_exporters_put_it(tmp_path: Path, place: str) -> None:
    embedder = load_embedder(str(table_model(tmp_path / "own", place=place)))
    np.testing.assert_allclose(embedder.embed([TEXT])[0], unit(TOKENS.mean(axis=0)), atol=1e-6)
    assert embedder.dimension == 5
    assert embedder.embed([]).shape == (0, 5)


@pytest.mark.parametrize("inputs", [("input_ids",), ("input_ids", "attention_mask", "token_type_ids")])
@pytest.mark.parametrize("integers", [TensorProto.INT32, TensorProto.INT64])
def test_inputs_are_those_that_the_model_takes(tmp_path: Path, inputs: tuple[str, ...], integers: int) -> None:
    embedder = OnnxFolders.load(table_model(tmp_path, inputs=inputs, integers=integers))
    np.testing.assert_allclose(embedder.embed([TEXT])[0], unit(TOKENS.mean(axis=0)), atol=1e-6)


def test_a_model_that_pools_by_itself_is_left_to_it(tmp_path: Path) -> None:
    home = table_model(tmp_path, pooled=True, **{"1_Pooling__config": {"pooling_mode_cls_token": True}})
    embedder = OnnxFolders.load(home)
    np.testing.assert_allclose(embedder.embed([TEXT])[0], unit(TOKENS.sum(axis=0)), atol=1e-6)
    assert embedder.dimension == 5


def test_modules_that_are_in_the_model_are_fine_and_others_are_named(tmp_path: Path) -> None:
    usual = [{"type": f"sentence_transformers.models.{kind}"} for kind in ("Transformer", "Pooling", "Normalize")]
    read_folder(table_model(tmp_path, modules=usual))
    table_model(tmp_path, modules=[*usual, {"type": "sentence_transformers.models.Dense"}])
    with pytest.raises(SettingsError, match="'Dense'"):
        read_folder(tmp_path)


def test_the_name_changes_with_whatever_changes_a_vector(tmp_path: Path) -> None:
    home = table_model(tmp_path)
    names = {read_folder(home).name}
    for settings in (
        {"1_Pooling__config": {"pooling_mode_cls_token": True}},
        {"sentence_bert_config": {"max_seq_length": 64}},
        {"config_sentence_transformers": {"prompts": {"document": "passage: "}}},
    ):
        names.add(read_folder(table_model(home, **settings)).name)
        assert load_embedder(str(home)).name in names
    assert len(names) == 4


def test_a_folder_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"has no model\.onnx.*tokenizer\.json"):
        resolve_spec(str(tmp_path))
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(SettingsError, match="optimum-cli export onnx"):
        resolve_spec(str(tmp_path))
    (table_model(tmp_path) / "tokenizer.json").unlink()
    with pytest.raises(SettingsError, match=r"no tokenizer\.json.*save_pretrained"):
        load_embedder(str(tmp_path))


@pytest.mark.parametrize(
    "name", ["modules", "config", "1_Pooling/config", "sentence_bert_config", "config_sentence_transformers"]
)
@pytest.mark.parametrize("content", ["{", '"text"', "\x00"])
def test_a_damaged_setting_is_named(tmp_path: Path, name: str, content: str) -> None:
    file = table_model(tmp_path, **{"1_Pooling__config": {}}) / f"{name}.json"
    file.write_text(content, "utf-8")
    with pytest.raises(SettingsError, match=f"{name}.json"):
        read_folder(tmp_path)


def test_prompts_that_are_no_texts_are_refused(tmp_path: Path) -> None:
    home = table_model(tmp_path, config_sentence_transformers={"prompts": {"query": 1}})
    with pytest.raises(SettingsError, match=json.dumps({"query": "query: "})[1:-1]):
        read_folder(home)


@pytest.mark.parametrize("settings", [{"inputs": ("input_ids", "position_ids")}])
def test_a_model_that_is_no_encoder_is_refused(tmp_path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="position_ids"):
        OnnxFolders.load(table_model(tmp_path, **settings)).embed(["weir"])
