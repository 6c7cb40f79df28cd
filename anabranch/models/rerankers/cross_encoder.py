"""A local cross-encoder: a folder with model.onnx and tokenizer.json, run by onnxruntime.

Each (question, passage) pair goes through the model together (Nogueira and Cho 2019); pairs are sorted by length so
that a batch carries little padding.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import ModelError, SettingsError

BATCH = 8
MAX_TOKENS = 512


class CrossEncoderReranker:
    """Scores pairs in a worker thread; the model is loaded at the first question and kept."""

    name = "cross_encoder"

    def __init__(self, folder: str | None) -> None:
        """Check that the folder holds a model.

        Raises:
            SettingsError: No folder was given, or a file is missing in it.
        """
        if not folder:
            msg = "rerank: cross_encoder needs a model."
            raise SettingsError(msg, hint="Set rerank_model to a folder with model.onnx and tokenizer.json.")
        self._folder = Path(folder)

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Return the model's logit for each pair; blank texts stay unjudged."""
        return await asyncio.to_thread(self._score, question, list(texts))

    def _score(self, question: str, texts: list[str]) -> list[float | None]:
        session, tokenizer = _load(self._folder)
        wanted = [index for index, text in enumerate(texts) if text.strip()]
        encoded = tokenizer.encode_batch([(question, texts[index]) for index in wanted])
        order = sorted(range(len(wanted)), key=lambda position: len(encoded[position].ids))
        result: list[float | None] = [None] * len(texts)
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            for position, score in zip(part, _run(session, [encoded[p] for p in part]), strict=True):
                result[wanted[position]] = float(score)
        return result


@lru_cache(maxsize=2)
def _load(folder: Path) -> tuple[Any, Any]:
    import onnxruntime
    from tokenizers import Tokenizer

    model, words = folder / "model.onnx", folder / "tokenizer.json"
    for path in (model, words):
        if not path.is_file():
            msg = f"The cross-encoder's file {path.name!r} is missing in {str(folder)!r}."
            raise SettingsError(msg, hint="Set rerank_model to a folder with model.onnx and tokenizer.json.")
    try:
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(words))
    except Exception as error:
        msg = f"The cross-encoder in {str(folder)!r} cannot be loaded: {error}"
        raise SettingsError(msg, hint="Check that model.onnx and tokenizer.json belong together.") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS, strategy="only_second")
    return session, tokenizer


def _run(session: Any, encoded: Sequence[Any]) -> NDArray[np.float32]:  # noqa: ANN401  # onnxruntime has no types
    """Return one score per pair: the only logit, or of two (irrelevant, relevant) the difference."""
    width = max(len(item.ids) for item in encoded)
    inputs = {
        "input_ids": np.zeros((len(encoded), width), np.int64),
        "attention_mask": np.zeros((len(encoded), width), np.int64),
        "token_type_ids": np.zeros((len(encoded), width), np.int64),
    }
    for row, item in enumerate(encoded):
        inputs["input_ids"][row, : len(item.ids)] = item.ids
        inputs["attention_mask"][row, : len(item.ids)] = 1
        inputs["token_type_ids"][row, : len(item.ids)] = item.type_ids
    known = {slot.name for slot in session.get_inputs()}
    (logits, *_) = session.run(None, {name: array for name, array in inputs.items() if name in known})
    logits = np.asarray(logits, dtype=np.float32).reshape(len(encoded), -1)
    scores: NDArray[np.float32] = logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits[:, 0]
    if not np.isfinite(scores).all():
        msg = "The cross-encoder gave a score that is no number."
        raise ModelError(msg, hint="Check the model in rerank_model.")
    return scores
