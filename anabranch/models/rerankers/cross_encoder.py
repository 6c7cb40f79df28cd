"""A local cross-encoder: question and passage go through the model together (Nogueira and Cho 2019, arXiv 1901.04085).

Pairs are sorted by length, so that a batch carries little padding. The width of a pair is a function of its own length
alone, so that its score does not depend on what is scored with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import ModelError
from anabranch.models.rerankers import Reranker, RerankerSettings
from anabranch.models.rerankers.onnx_cross_encoder import PairModel, load_pair_model
from anabranch.models.wordpiece_tokenizer import encodable

# Tokens of one run of the model, padding included: bounds its memory.
BATCH_TOKENS = 4_096

WIDTH = 32
"""Pairs are padded to a multiple of this."""

# A passage is cut here before it becomes tokens.
MAX_CHARS = 8_000

MAX_QUESTION_CHARS = 2_000

# onnxruntime uses every core for one run; more runs than this at a time would only wait for cores.
_POOL = ThreadPoolExecutor(max_workers=2, thread_name_prefix="anabranch-rerank")


class CrossEncoderReranker(Reranker):
    """Scores pairs in a worker thread; making one loads the model, which blocks."""

    name = "cross_encoder"

    def __init__(self, folder: str | None) -> None:
        """Load the model.

        Raises:
            SettingsError: No folder was given, a file is missing or damaged, or the model is no cross-encoder.
        """
        self._model = load_pair_model(folder)

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
        question = _shortened(model, question)
        result: list[float | None] = [None] * len(texts)
        wanted = [index for index, text in enumerate(texts) if text.strip()]
        pairs = [(question, encodable(texts[index][:MAX_CHARS])) for index in wanted]
        encoded = model.tokenizer.encode_batch(pairs)
        for batch in _batches([len(one.ids) for one in encoded]):
            for place, score in zip(batch, _run(model, [encoded[place] for place in batch]), strict=True):
                result[wanted[place]] = float(score)
        return result


def _shortened(model: PairModel, question: str) -> str:
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


def _run(model: PairModel, encoded: Sequence[Any]) -> NDArray[np.float32]:
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
