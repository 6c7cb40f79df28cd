"""A cross-encoder's files: a folder as sentence-transformers, transformers and optimum leave it, made ready to score.

What the folder says about itself is honoured: where the model lies (`model.onnx` or `onnx/model.onnx`), how many tokens
it takes, which padding it knows, and which of two labels means "relevant".
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.errors import SettingsError
from anabranch.models.onnx_session import open_session

MODEL_FILES = ("model.onnx", "onnx/model.onnx")
USUAL_TOKENS = 512
MAX_TOKENS = 1_024
"""A pair is cut here whatever the model takes: attention grows with the square of the length."""

_HINT = "Set rerank_model to a folder with model.onnx (or onnx/model.onnx) and tokenizer.json; nothing is downloaded."
_KNOWN = frozenset({"input_ids", "attention_mask", "token_type_ids"})
# Positions of these begin behind the padding token's number (fairseq's way), so that many fewer are left.
_SHIFTED = frozenset({"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"})
_POSITIVE = frozenset({"relevant", "positive", "yes", "true", "1", "entailment", "match"})
_NEGATIVE = frozenset({"irrelevant", "not_relevant", "non_relevant", "negative", "no", "false", "0", "not_entailment"})

_lock = threading.Lock()
_loaded: dict[Path, tuple[int, PairModel]] = {}


@dataclass(frozen=True, slots=True)
class PairModel:
    """A model that scores (question, passage) pairs, with its tokenizer; safe to share between threads.

    Attributes:
        session: `onnxruntime.InferenceSession`.
        tokenizer: For pairs: without padding, cutting the passage and never the question.
        shortener: For a question alone: cuts at half of the limit.
        types: numpy type of each input that the model takes, by name.
        limit: Most tokens of a pair, special ones included.
        padding: Token id that fills a row.
        positive: Which of two labels means "relevant".
    """

    session: Any
    tokenizer: Any
    shortener: Any
    types: Mapping[str, str]
    limit: int
    padding: int
    positive: int


def load_pair_model(folder: str | None) -> PairModel:
    """Return the cross-encoder of a folder, loaded once and kept until its file changes; blocks.

    Raises:
        SettingsError: No folder was given, a file is missing or damaged, or the model is no cross-encoder.
    """
    if not folder:
        msg = "rerank: cross_encoder needs a model."
        raise SettingsError(msg, hint=_HINT)
    model, tokenizer = _files(Path(folder).expanduser())
    version = model.stat().st_mtime_ns
    with _lock:
        known = _loaded.get(model)
        if known is None or known[0] != version:
            _loaded.clear()  # one at a time: they are large
            _loaded[model] = known = (version, _open(Path(folder).expanduser(), model, tokenizer))
        return known[1]


def _files(folder: Path) -> tuple[Path, Path]:
    if not folder.is_dir():
        msg = f"The cross-encoder's folder {str(folder)!r} is not there, or is no folder."
        raise SettingsError(msg, hint=_HINT)
    model = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    if model is None:
        msg = f"The cross-encoder's file 'model.onnx' is missing in {str(folder)!r}."
        weights = any((folder / name).is_file() for name in ("model.safetensors", "pytorch_model.bin"))
        hint = (
            "Its weights are for torch: export them, `optimum-cli export onnx --model FOLDER OUT`."
            if weights
            else _HINT
        )
        raise SettingsError(msg, hint=hint)
    # Exports into `onnx/` keep the tokenizer above it, some beside it.
    tokenizer = next((place / "tokenizer.json" for place in (folder, model.parent) if _has(place)), None)
    if tokenizer is None:
        msg = f"The cross-encoder's file 'tokenizer.json' is missing in {str(folder)!r}."
        raise SettingsError(msg, hint=_HINT)
    return model.resolve(), tokenizer


def _has(place: Path) -> bool:
    return (place / "tokenizer.json").is_file()


def _open(folder: Path, model: Path, words: Path) -> PairModel:
    from tokenizers import Tokenizer

    try:
        session = open_session(str(model), threads=0)
        # A tokenizer keeps its truncation inside, so each role needs one of its own.
        tokenizer, shortener = Tokenizer.from_file(str(words)), Tokenizer.from_file(str(words))
    except Exception as error:  # onnxruntime has a type for each kind of fault, the tokenizer none
        msg = f"The cross-encoder in {str(folder)!r} cannot be loaded: {' '.join(str(error).split())[:300]}"
        raise SettingsError(msg, hint="Check that model.onnx and tokenizer.json are whole.") from error
    config = _config(folder, "config.json")
    padding = _padding(tokenizer, config)
    limit = _limit(folder, tokenizer, config, padding)
    for each in (tokenizer, shortener):
        each.no_padding()
    tokenizer.enable_truncation(limit, strategy="only_second")
    shortener.enable_truncation(limit // 2)
    inputs, positive = _inputs(session, folder), _positive(config, folder)
    return PairModel(session, tokenizer, shortener, inputs, limit, padding, positive)


def _config(folder: Path, name: str) -> dict[str, Any]:
    try:
        found = json.loads((folder / name).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        msg = f"The cross-encoder's file {name!r} cannot be read: {error}"
        raise SettingsError(msg, hint="Repair it, or remove it for the usual values.") from error
    return found if isinstance(found, dict) else {}


def _padding(tokenizer: Any, config: Mapping[str, Any]) -> int:  # noqa: ANN401  # tokenizers' own class
    known = (tokenizer.padding or {}).get("pad_id", config.get("pad_token_id"))
    return known if isinstance(known, int) and known >= 0 else 0


def _limit(folder: Path, tokenizer: Any, config: Mapping[str, Any], padding: int) -> int:  # noqa: ANN401
    """Return the least of what the tokenizer and the model say they take; 512 where they say nothing."""
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and config.get("model_type") in _SHIFTED:
        positions -= padding + 1
    said = [
        (tokenizer.truncation or {}).get("max_length"),
        _config(folder, "tokenizer_config.json").get("model_max_length"),
        _config(folder, "sentence_bert_config.json").get("max_seq_length"),
        positions,
    ]
    # transformers writes 1e30 for "no limit known".
    sensible = [int(number) for number in said if isinstance(number, int | float) and 8 <= number <= 1_000_000]
    return min([*sensible, MAX_TOKENS]) if sensible else USUAL_TOKENS


def _inputs(session: Any, folder: Path) -> dict[str, str]:  # noqa: ANN401  # onnxruntime has no types
    slots = {slot.name: "int32" if "int32" in slot.type else "int64" for slot in session.get_inputs()}
    shape = session.get_outputs()[0].shape
    if not {"input_ids"} <= slots.keys() <= _KNOWN or len(shape) not in (1, 2):
        msg = (
            f"The model in {str(folder)!r} does not take pairs to scores: inputs {sorted(slots)!r}, output of "
            f"{len(shape)} dimensions."
        )
        raise SettingsError(msg, hint="Export a sequence classifier with one or two labels; an embedder cannot rerank.")
    labels = shape[1] if len(shape) == 2 else 1
    if isinstance(labels, int) and labels > 2:
        msg = f"The model in {str(folder)!r} tells {labels} labels apart: it is no reranker."
        raise SettingsError(msg, hint="Use a model with one label, or with the two labels irrelevant and relevant.")
    return slots


def _positive(config: Mapping[str, Any], folder: Path) -> int:
    """Return which of two labels means "relevant": the second, unless the names say that it is the first."""
    names = config.get("id2label")
    count = len(names) if isinstance(names, dict) else config.get("num_labels", 1)
    if isinstance(count, int) and count > 2:
        msg = f"The model in {str(folder)!r} tells {count} labels apart: it is no reranker."
        raise SettingsError(msg, hint="Use a model with one label, or with the two labels irrelevant and relevant.")
    if not isinstance(names, dict) or len(names) != 2:
        return 1
    first, second = (str(names.get(key, "")).strip().casefold().replace(" ", "_") for key in ("0", "1"))
    return 0 if first in _POSITIVE or (second in _NEGATIVE and first not in _NEGATIVE) else 1
