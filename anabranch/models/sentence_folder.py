"""A folder with a user's embedder, as sentence-transformers, transformers.js and optimum leave it.

What the folder says about itself is honoured: where the model lies, how token vectors are pooled, how many tokens the
model takes, and what it wants in front of a question and of a passage.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.errors import SettingsError
from anabranch.models.checksums import sha256
from anabranch.models.pooling import POOLINGS

MODEL_FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
"""Where a model may lie, the first that is there counts: full precision before 8 bits."""

USUAL_TOKENS = 256
MAX_TOKENS = 2_048
"""A text is cut here whatever the model takes: attention grows with the square of the length."""

_HINT = "It needs model.onnx (or onnx/model.onnx) and tokenizer.json; or use embedder='minilm'."
_TORCH = ("model.safetensors", "pytorch_model.bin")
_IN_THE_MODEL = {"Transformer", "Pooling", "Normalize"}
# Positions of these begin behind the padding token's number (fairseq's way), so that two fewer are left.
_SHIFTED = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet"})
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
    """How a text becomes a vector.

    Attributes:
        pooling: One of `anabranch.models.pooling.POOLINGS`.
        limit: Most tokens of a text, special ones included.
        query: What the model wants in front of a question.
        passage: What it wants in front of a passage.
    """

    pooling: str = "mean"
    limit: int = USUAL_TOKENS
    query: str = ""
    passage: str = ""


@dataclass(frozen=True, slots=True)
class SentenceFolder:
    """The files of an embedder and its recipe; `name` is another one whenever a text's vector would be."""

    name: str
    model: Path
    tokenizer: Path
    recipe: Recipe


def model_file(folder: Path) -> Path:
    """Return the model of a folder.

    Raises:
        SettingsError: There is none; the message names what is missing.
    """
    found = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    if found is None:
        msg = f"The embedder folder {str(folder)!r} has no model.onnx."
        is_torch = any((folder / name).is_file() for name in _TORCH)
        hint = "Its weights are for torch. Export them: optimum-cli export onnx --model FOLDER OUT" if is_torch else ""
        raise SettingsError(msg, hint=hint or _HINT)
    return found


def read_folder(folder: Path) -> SentenceFolder:
    """Read what a folder says.

    Raises:
        SettingsError: A file is missing or cannot be read, or the model has a step that is not in its .onnx file.
    """
    model = model_file(folder)
    places = (folder / "tokenizer.json", model.parent / "tokenizer.json")
    tokenizer = next((file for file in places if file.is_file()), None)
    if tokenizer is None:
        msg = f"The embedder folder {str(folder)!r} has no tokenizer.json."
        hint = "Write it with transformers: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)"
        raise SettingsError(msg, hint=hint)
    _check_modules(folder)
    query, passage = _prompts(folder)
    recipe = Recipe(_pooling(folder), _limit(folder), query, passage)
    digest = hashlib.sha256("\n".join([sha256(model), sha256(tokenizer), repr(recipe)]).encode()).hexdigest()
    return SentenceFolder(f"onnx:{folder.resolve().name}-{digest[:12]}", model, tokenizer, recipe)


def _check_modules(folder: Path) -> None:
    """Refuse a model whose vectors pass through a layer of their own behind the transformer."""
    for module in _read(folder, "modules.json", list):
        kind = str(module.get("type", "")).rpartition(".")[2] if isinstance(module, dict) else ""
        if kind not in _IN_THE_MODEL:
            msg = f"The embedder in {str(folder)!r} has a module {kind!r}, which is not in its .onnx file."
            raise SettingsError(msg, hint="Use a model of the modules Transformer, Pooling and Normalize.")


def _pooling(folder: Path) -> str:
    config = _read(folder, "1_Pooling/config.json", dict)
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
    config = _read(folder, "config.json", dict)
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and config.get("model_type") in _SHIFTED:
        positions -= 2
    own = _read(folder, "sentence_bert_config.json", dict).get("max_seq_length")
    other = own or _read(folder, "tokenizer_config.json", dict).get("model_max_length")
    # transformers writes 1e30 for "no limit known".
    sensible = [
        int(number) for number in (other, positions) if isinstance(number, int | float) and 4 <= number <= 1_000_000
    ]
    return min([*sensible, MAX_TOKENS]) if sensible else USUAL_TOKENS


def _prompts(folder: Path) -> tuple[str, str]:
    """Return what stands in front of a question and of a passage."""
    config = _read(folder, "config_sentence_transformers.json", dict)
    prompts = config.get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(text, str) for text in prompts.values()):
        msg = f"The prompts in {str(folder / 'config_sentence_transformers.json')!r} are not names with a text each."
        raise SettingsError(msg, hint='Write them as {"prompts": {"query": "query: ", "document": "passage: "}}.')
    usual = str(prompts.get(config.get("default_prompt_name") or "", ""))
    passage = next((str(prompts[name]) for name in _PASSAGE_NAMES if name in prompts), usual)
    return str(prompts.get("query", usual)), passage


def _read(folder: Path, name: str, kind: type[Any]) -> Any:  # noqa: ANN401  # JSON of the kind asked for
    file = folder / name
    try:
        found = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return kind()
    except (OSError, ValueError, RecursionError) as error:
        msg = f"{str(file)!r} cannot be read: {error}"
        raise SettingsError(msg, hint="Repair it, or remove it for the usual values.") from error
    if not isinstance(found, kind):
        msg = f"{str(file)!r} is not a JSON {'list' if kind is list else 'object'}."
        raise SettingsError(msg, hint="Repair it, or remove it for the usual values.")
    return found
