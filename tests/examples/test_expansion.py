"""Further queries by a sequence-to-sequence model of transformers: a tiny one, made on the spot and never trained."""

from __future__ import annotations

import json
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from anabranch.errors import UserError
from anabranch.parsing.query_list import MAX_QUERY
from examples import expansion
from tests.absent import hide
from tests.shared_fixtures import REPOSITORY

WEIR = REPOSITORY / "tests" / "samples" / "weir.md"
QUESTION = "Who built the Halden weir?"
WORDS = "who built the halden weir ? river lock gate salmon mill bridge".split(" ")  # noqa: SIM905  # as a text reads


def _is_installed(name: str) -> bool:
    return find_spec(name) is not None


needs_model = pytest.mark.skipif(
    not (_is_installed("torch") and _is_installed("transformers")),
    reason="torch and transformers are not installed; no dependency of Anabranch brings them",
)


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BART of two layers with random weights, and a tokenizer of whole words."""
    transformers, tokenizers, torch = (import_module(name) for name in ("transformers", "tokenizers", "torch"))
    folder = tmp_path_factory.mktemp("bart")
    vocabulary = {word: number for number, word in enumerate(["<s>", "<pad>", "</s>", "<unk>", *WORDS])}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    words.normalizer = tokenizers.normalizers.Lowercase()
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    special = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(folder)
    torch.manual_seed(1)
    sizes = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in
             (("layers", 2), ("attention_heads", 2), ("ffn_dim", 32))}  # fmt: skip
    config = transformers.BartConfig(
        vocab_size=len(vocabulary), d_model=16, max_position_embeddings=64, bos_token_id=0, pad_token_id=1,
        eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=2, init_std=1.0, **sizes,
    )  # fmt: skip
    transformers.BartForConditionalGeneration(config).save_pretrained(folder, safe_serialization=True)
    return folder


def _run(*arguments: Any) -> str:
    app = typer.Typer()
    app.command()(expansion.main)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@needs_model
def test_its_rephrasings_are_searched_for_and_the_answer_is_found(bart: Path, tmp_path: Path) -> None:
    output = _run(WEIR, "--generator", bart, "--question", QUESTION, "--home", tmp_path)
    queries = re.findall(r"\n  (\w+) \((\d\.\d\d)\): (.+)", output)
    assert queries[0] == ("asked", "1.00", QUESTION)
    assert 2 <= len(queries) <= 4
    assert {kind for kind, _, _ in queries[1:]} == {"multi"}
    assert all(set(text.split()) <= {*WORDS} and len(text) <= MAX_QUERY for _, _, text in queries[1:])
    assert "Ida Marrow" in output


@needs_model
def test_the_same_question_is_rephrased_alike(bart: Path) -> None:
    rephrase: Any = expansion.rephrase_by(bart)
    assert len(rephrase(QUESTION, 3)) == 3
    assert rephrase(QUESTION, 3) == rephrase(QUESTION, 3)
    assert rephrase(QUESTION, 3) != rephrase("the bridge ?", 3)


@needs_model
@pytest.mark.parametrize("config", [None, {"model_type": "bert"}])
def test_a_folder_without_such_a_model_is_refused(tmp_path: Path, config: dict[str, str] | None) -> None:
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(UserError, match="holds no sequence-to-sequence model"):
        expansion.rephrase_by(tmp_path)


@pytest.mark.parametrize("name", ["transformers", "torch"])
def test_a_package_that_is_missing_is_named(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if name == "torch" and not _is_installed("transformers"):
        pytest.skip("transformers is not installed, and is missed first")
    hide(name, monkeypatch)
    with pytest.raises(UserError, match=f"{name} is not installed"):
        expansion.rephrase_by(tmp_path)
