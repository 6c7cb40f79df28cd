"""A folder with a user's embedder, as sentence-transformers, transformers.js and optimum leave it.

What the folder says about itself is honoured: where the model lies, how token vectors are pooled, how many tokens the
model takes, and what it wants in front of a question and of a passage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import SettingsError
from anabranch.models.onnx_embedder import SENTENCE, OnnxEmbedder, SentenceModel, mean, output_of
from anabranch.models.onnx_session import input_types, open_session, sha256
from anabranch_onnx.model_folder import model_file, positions, read_json, token_limit, tokenizer_file

USUAL_TOKENS = 256
# A text is cut here whatever the model takes.
MAX_TOKENS = 2_048
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


def _weighted_mean(tokens: NDArray[Any]) -> NDArray[Any]:
    """Return the mean weighted by position, counted from 1: SGPT (Muennighoff 2022, equation 2)."""
    weights = np.arange(1, len(tokens) + 1, dtype=np.float32)
    return np.asarray(weights @ tokens / weights.sum())


# From the vectors of a text's tokens, shape (tokens, dimension), to its own, as in Sentence-BERT (Reimers and Gurevych
# 2019, section 3); by the names of sentence-transformers. Lengths do not matter: vectors are brought to unit length.
POOLINGS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "mean": mean,  # MiniLM, GTE, E5, mpnet
    "cls": lambda tokens: tokens[0],  # BGE, Arctic, mxbai
    "max": lambda tokens: tokens.max(axis=0),
    "mean_sqrt_len_tokens": mean,  # of another length, in the same direction
    "weightedmean": _weighted_mean,
    "lasttoken": lambda tokens: tokens[-1],  # encoders made from decoders
}
_IN_THE_MODEL = {"Transformer", "Pooling", "Normalize"}
_POOLING_FLAGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_PASSAGE_NAMES = ("document", "passage", "corpus")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a folder says that a text becomes a vector; its form is part of the embedder's name.

    Attributes:
        pooling: One of `POOLINGS`.
        limit: Most tokens of a text, special ones included.
        query: What the model wants in front of a question.
        passage: What it wants in front of a passage.
    """

    pooling: str = "mean"
    limit: int = USUAL_TOKENS
    query: str = ""
    passage: str = ""


class OnnxFolders:
    """Folders with an embedder, as `anabranch.models.embedders.FOLDERS` asks about them."""

    @staticmethod
    def version(folder: Path) -> int:
        """Return when the folder's model or one of its settings was last written.

        Raises:
            SettingsError: It has no model.
        """
        settings = [*folder.glob("*.json"), folder / "1_Pooling" / "config.json"]
        return max(file.stat().st_mtime_ns for file in [model_file(folder, "embedder"), *settings] if file.is_file())

    @staticmethod
    def load(folder: Path, *, threads: int | None = None) -> OnnxEmbedder:
        """Return the embedder of a folder; see `read_folder`, and `OnnxEmbedder` for `threads`."""
        return OnnxEmbedder(read_folder(folder), threads=threads)


def read_folder(folder: Path) -> SentenceModel:
    """Read what a folder says.

    Raises:
        SettingsError: A file is missing or cannot be read, or the model has a step that is not in its .onnx file.
    """
    model = model_file(folder, "embedder")
    tokenizer = tokenizer_file(folder, model, "embedder")
    _check_modules(folder)
    query, passage = _prompts(folder)
    recipe = Recipe(_pooling(folder), _limit(folder), query, passage)
    digest = hashlib.sha256("\n".join([sha256(model), sha256(tokenizer), repr(recipe)]).encode()).hexdigest()
    return SentenceModel(
        f"onnx:{folder.resolve().name}-{digest[:12]}",
        partial(_open_model, model),
        tokenizer,
        recipe.limit,
        POOLINGS[recipe.pooling],
        query,
        passage,
    )


def _check_modules(folder: Path) -> None:
    """Refuse a model whose vectors pass through a layer of their own behind the transformer."""
    for module in read_json(folder, "modules.json", list):
        kind = str(module.get("type", "")).rpartition(".")[2] if isinstance(module, dict) else ""
        if kind not in _IN_THE_MODEL:
            msg = f"The embedder in {str(folder)!r} has a module {kind!r}, which is not in its .onnx file."
            raise SettingsError(msg, hint="Use a model of the modules Transformer, Pooling and Normalize.")


def _pooling(folder: Path) -> str:
    config = read_json(folder, "1_Pooling/config.json")
    mode = config.get("pooling_mode", [])
    told = [mode] if isinstance(mode, str) else [str(name) for name in mode]
    told += [name for flag, name in _POOLING_FLAGS.items() if config.get(flag) is True]
    found = told or ["mean"]
    if len(found) > 1 or found[0] not in POOLINGS:
        msg = f"The embedder in {str(folder)!r} pools by {' and '.join(found)}, which is not supported."
        raise SettingsError(msg, hint=f"In 1_Pooling/config.json, use one of: {', '.join(POOLINGS)}.")
    return found[0]


def _limit(folder: Path) -> int:
    """Return what sentence-transformers would take: its own setting, else the least of the model's and tokenizer's.

    The limit inside tokenizer.json is none of these: exporters leave the length there that they exported with.
    """
    own = read_json(folder, "sentence_bert_config.json").get("max_seq_length")
    stated = (
        own or read_json(folder, "tokenizer_config.json").get("model_max_length"),
        positions(read_json(folder, "config.json"), padding=1),
    )
    return token_limit(stated, least=4, usual=USUAL_TOKENS, most=MAX_TOKENS)


def _prompts(folder: Path) -> tuple[str, str]:
    """Return what stands in front of a question and of a passage."""
    config = read_json(folder, "config_sentence_transformers.json")
    prompts = config.get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(text, str) for text in prompts.values()):
        msg = f"The prompts in {str(folder / 'config_sentence_transformers.json')!r} are not names with a text each."
        raise SettingsError(msg, hint='Write them as {"prompts": {"query": "query: ", "document": "passage: "}}.')
    usual = str(prompts.get(config.get("default_prompt_name") or "", ""))
    passage = next((str(prompts[name]) for name in _PASSAGE_NAMES if name in prompts), usual)
    return str(prompts.get("query", usual)), passage


def _open_model(file: Path, threads: int) -> Any:  # noqa: ANN401  (onnxruntime has no types)
    try:
        session = open_session(str(file), threads=threads)
    except Exception as error:  # onnxruntime has a type of its own for each kind of fault
        msg = f"The model {str(file)!r} cannot be loaded: {str(error)[:300]}"
        raise SettingsError(msg, hint="Point to a folder with a model.onnx that onnxruntime can run.") from error
    unknown = input_types(session).keys() - _INPUTS
    output = output_of(session)
    if unknown or len(output.shape) != (2 if output.name == SENTENCE else 3):
        msg = f"The model {str(file)!r} does not take token ids to token vectors (unknown inputs: {sorted(unknown)!r})."
        raise SettingsError(msg, hint="Export the encoder alone: its first output is last_hidden_state.")
    return session
