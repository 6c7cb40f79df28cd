"""A local cross-encoder: question and passage go through the model together (Nogueira and Cho 2019, arXiv 1901.04085).

What its folder says about itself is honoured: where the model lies, how many tokens it takes, which padding it knows,
and which of two labels means "relevant". Pairs are sorted by length, so that a batch carries little padding. The width
of a pair is a function of its own length alone, so that its score does not depend on what is scored with it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import ModelError, SettingsError
from anabranch.models.onnx_session import input_types
from anabranch.models.rerankers import Reranker, RerankerSettings
from anabranch.models.wordpiece_tokenizer import encodable
from anabranch_onnx.model_folder import (
    HINTS,
    model_file,
    open_pairs,
    positions,
    read_json,
    token_limit,
    tokenizer_file,
)

# Tokens of one run of the model, padding included: bounds its memory.
BATCH_TOKENS = 4_096

# Pairs are padded to a multiple of this.
WIDTH = 32

# A passage is cut here before it becomes tokens.
MAX_CHARS = 8_000

MAX_QUESTION_CHARS = 2_000

# onnxruntime uses every core for one run; more runs than this at a time would only wait for cores.
_POOL = ThreadPoolExecutor(max_workers=2, thread_name_prefix="anabranch-rerank")


USUAL_TOKENS = 512
# A pair is cut here whatever the model takes.
MAX_TOKENS = 1_024

_KNOWN = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_POSITIVE = frozenset({"relevant", "positive", "yes", "true", "1", "entailment", "match"})
_NEGATIVE = frozenset({"irrelevant", "not_relevant", "non_relevant", "negative", "no", "false", "0", "not_entailment"})

_lock = threading.Lock()


class CrossEncoderReranker(Reranker):
    """Scores pairs in a worker thread; making one loads the model, which blocks."""

    name = "cross_encoder"

    def __init__(self, folder: str | None) -> None:
        """Load the model.

        Raises:
            SettingsError: No folder was given, a file is missing or damaged, or the model is no cross-encoder.
        """
        self._model = _load(folder)

    @classmethod
    def from_settings(cls, settings: RerankerSettings) -> Self:
        """Load the model of the folder in `rerank_model`."""
        return cls(settings.model)

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Return the model's score for each pair: its logit, or of two labels how far the relevant one leads.

        Blank texts stay unjudged. A model that ends in a sigmoid or a softmax gives the same order.

        Raises:
            ModelError: A score is no number.
        """
        return await asyncio.get_running_loop().run_in_executor(_POOL, self._scores, question, list(texts))

    def _scores(self, question: str, texts: list[str]) -> list[float | None]:
        model = self._model
        question = _shorten(model, question)
        result: list[float | None] = [None] * len(texts)
        wanted = [index for index, text in enumerate(texts) if text.strip()]
        pairs = [(question, encodable(texts[index][:MAX_CHARS])) for index in wanted]
        encoded = model.tokenizer.encode_batch(pairs)
        for batch in _batches([len(one.ids) for one in encoded]):
            for place, score in zip(batch, _run(model, [encoded[place] for place in batch]), strict=True):
                result[wanted[place]] = float(score)
        return result


def _shorten(model: _PairModel, question: str) -> str:
    """Leave the passage at least half of the room: a tokenizer refuses a question that leaves it none."""
    question = encodable(question[:MAX_QUESTION_CHARS])
    offsets = model.shortener.encode(question, add_special_tokens=False).offsets
    return question[: offsets[-1][1]] if offsets else question


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of pairs of one width, shortest first."""
    order = sorted(range(len(lengths)), key=lambda place: (lengths[place], place))
    for width, places in groupby(order, key=lambda place: _width(lengths[place])):
        same = list(places)
        size = max(1, BATCH_TOKENS // width)
        yield from (same[start : start + size] for start in range(0, len(same), size))


def _width(length: int) -> int:
    return max(1, -(-length // WIDTH)) * WIDTH


def _run(model: _PairModel, encoded: Sequence[Any]) -> NDArray[np.float32]:
    """Return one score per pair of a batch."""
    shape = (len(encoded), min(_width(max(len(one.ids) for one in encoded)), model.limit))
    rows = {name: np.zeros(shape, dtype) for name, dtype in model.types.items()}
    rows["input_ids"].fill(model.padding)
    for row, one in enumerate(encoded):
        known = {"input_ids": one.ids, "attention_mask": 1, "token_type_ids": one.type_ids}
        for name, values in rows.items():
            values[row, : len(one.ids)] = known[name]
    (logits, *_) = model.session.run(None, rows)
    logits = np.asarray(logits, dtype=np.float32).reshape(len(encoded), -1)
    scores = logits[:, 0] if logits.shape[1] == 1 else logits[:, model.positive] - logits[:, 1 - model.positive]
    if not np.isfinite(scores).all():
        msg = "The cross-encoder gave a score that is no number."
        raise ModelError(msg, hint="Check the model in rerank_model.")
    return scores


@dataclass(frozen=True, slots=True)
class _PairModel:
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


def _load(folder: str | None) -> _PairModel:
    """Return the cross-encoder of a folder, loaded once and kept until its file changes; blocks.

    Raises:
        SettingsError: No folder was given, a file is missing or damaged, or the model is no cross-encoder.
    """
    if not folder:
        msg = "rerank: cross_encoder needs a model."
        raise SettingsError(msg, hint=HINTS["cross-encoder"])
    place = Path(folder).expanduser()
    model = model_file(place, "cross-encoder")
    words = tokenizer_file(place, model, "cross-encoder")
    # Under the lock, or two first questions would each load it.
    with _lock:
        return _open(place, model.resolve(), words, model.stat().st_mtime_ns)


@lru_cache(maxsize=1)  # one at a time: they are large; a file that was replaced is another model
def _open(folder: Path, model: Path, words: Path, _version: int) -> _PairModel:
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
    return _PairModel(session, tokenizer, shortener, inputs, limit, padding, positive)


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
