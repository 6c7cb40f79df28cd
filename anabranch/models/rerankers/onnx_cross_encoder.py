"""A cross-encoder's files: a folder as sentence-transformers, transformers and optimum leave it, made ready to score.

What the folder says about itself is honoured: where the model lies (`model.onnx` or `onnx/model.onnx`), how many tokens
it takes, which padding it knows, and which of two labels means "relevant".
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.errors import SettingsError
from anabranch.models.model_folder import HINTS, model_file, positions, read_json, token_limit, tokenizer_file
from anabranch.models.onnx_session import input_types, open_pairs

USUAL_TOKENS = 512
# A pair is cut here whatever the model takes.
MAX_TOKENS = 1_024

_KNOWN = frozenset({"input_ids", "attention_mask", "token_type_ids"})
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
        raise SettingsError(msg, hint=HINTS["cross-encoder"])
    place = Path(folder).expanduser()
    model = model_file(place, "cross-encoder")
    tokenizer = tokenizer_file(place, model, "cross-encoder")
    model = model.resolve()
    version = model.stat().st_mtime_ns
    with _lock:
        known = _loaded.get(model)
        if known is None or known[0] != version:
            _loaded.clear()  # one at a time: they are large
            _loaded[model] = known = (version, _open(place, model, tokenizer))
        return known[1]


def _open(folder: Path, model: Path, words: Path) -> PairModel:
    from tokenizers import Tokenizer

    session, tokenizer = open_pairs(model, words)
    # A tokenizer keeps its truncation inside, so each role needs one of its own.
    shortener = Tokenizer.from_str(tokenizer.to_str())
    config = read_json(folder, "config.json")
    padding = _padding(tokenizer, config)
    limit = _limit(folder, tokenizer, config, padding)
    for each in (tokenizer, shortener):
        each.no_padding()
    # The passage gives way, not the question: a judge that cannot read what was asked judges nothing.
    tokenizer.enable_truncation(limit, strategy="only_second")
    shortener.enable_truncation(limit // 2)
    inputs, positive = _inputs(session, folder), _positive(session, config, folder)
    return PairModel(session, tokenizer, shortener, inputs, limit, padding, positive)


def _padding(tokenizer: Any, config: Mapping[str, Any]) -> int:  # noqa: ANN401  # tokenizers' own class
    known = (tokenizer.padding or {}).get("pad_id", config.get("pad_token_id"))
    return known if isinstance(known, int) and known >= 0 else 0


def _limit(folder: Path, tokenizer: Any, config: Mapping[str, Any], padding: int) -> int:  # noqa: ANN401
    """Return the least of what the tokenizer and the model say they take; 512 where they say nothing."""
    stated = (
        (tokenizer.truncation or {}).get("max_length"),
        read_json(folder, "tokenizer_config.json").get("model_max_length"),
        read_json(folder, "sentence_bert_config.json").get("max_seq_length"),
        positions(config, padding),
    )
    return token_limit(stated, least=8, usual=USUAL_TOKENS, most=MAX_TOKENS)


def _inputs(session: Any, folder: Path) -> dict[str, str]:  # noqa: ANN401  # onnxruntime has no types
    slots = input_types(session)
    shape = session.get_outputs()[0].shape
    if not {"input_ids"} <= slots.keys() <= _KNOWN or len(shape) not in (1, 2):
        msg = (
            f"The model in {str(folder)!r} does not take pairs to scores: inputs {sorted(slots)!r}, output of "
            f"{len(shape)} dimensions."
        )
        raise SettingsError(msg, hint="Export a sequence classifier with one or two labels; an embedder cannot rerank.")
    return slots


def _positive(session: Any, config: Mapping[str, Any], folder: Path) -> int:  # noqa: ANN401
    """Return which of two labels means "relevant": the second, unless the names say that it is the first."""
    names = config.get("id2label")
    shape = session.get_outputs()[0].shape
    counts = (shape[-1] if len(shape) == 2 else 1, len(names) if isinstance(names, dict) else config.get("num_labels"))
    labels = max((count for count in counts if isinstance(count, int)), default=1)
    if labels > 2:
        msg = f"The model in {str(folder)!r} tells {labels} labels apart: it is no reranker."
        raise SettingsError(msg, hint="Use a model with one label, or with the two labels irrelevant and relevant.")
    if not isinstance(names, dict) or len(names) != 2:
        return 1
    first, second = (str(names.get(key, "")).strip().casefold().replace(" ", "_") for key in ("0", "1"))
    return 0 if first in _POSITIVE or (second in _NEGATIVE and first not in _NEGATIVE) else 1
