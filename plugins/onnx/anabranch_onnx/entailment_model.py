"""Natural language inference by a local ONNX model: does a claim follow from the words that are shown for it?

The folder is as transformers and optimum leave it. `id2label` in its config.json names the labels; `entailment` and
`contradiction` have to be among them, as in every model trained on MNLI (Williams et al. 2018).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import ModelError, SettingsError
from anabranch.models.onnx_session import input_types
from anabranch.types import Judgement
from anabranch_onnx.model_folder import HINTS, model_file, open_pairs, read_json, tokenizer_file

MAX_TOKENS = 512
# Probability from which a label decides.
SURE = 0.5
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class EntailmentModel:
    """A loaded model; safe to share between threads.

    Attributes:
        session: `onnxruntime.InferenceSession`.
        tokenizer: For pairs of evidence and claim.
        types: numpy type of each input that the model takes, by name.
        labels: What each of its outputs means.
    """

    session: Any
    tokenizer: Any
    types: dict[str, str]
    labels: tuple[Judgement, ...]

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """Judge (claim, evidence) pairs, one run of the model for each; blocks.

        Raises:
            ModelError: The model gives no numbers.
        """
        return [self._judge_pair(claim, evidence) for claim, evidence in pairs]

    def _judge_pair(self, claim: str, evidence: str) -> Judgement:
        encoded = self.tokenizer.encode(evidence, claim)
        known = {"input_ids": encoded.ids, "attention_mask": encoded.attention_mask, "token_type_ids": encoded.type_ids}
        rows = {name: np.asarray([known[name]], dtype) for name, dtype in self.types.items()}
        (logits, *_) = self.session.run(None, rows)
        scores = np.asarray(logits, dtype=np.float64).reshape(-1)
        if not np.isfinite(scores).all() or len(scores) != len(self.labels):
            msg = "The model in verify_model gave scores that cannot be read."
            raise ModelError(msg, hint="Check its folder, and `id2label` in its config.json.")
        # Less the largest: the exponential of a large logit overflows.
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        best = int(shares.argmax())
        return self.labels[best] if shares[best] >= SURE else "not_said"


def open_entailment(folder: str) -> EntailmentModel:
    """Return the model of a folder, loaded once; blocks.

    Raises:
        SettingsError: No folder was given, a file is missing or damaged, or its labels are none of inference.
    """
    if not folder:
        msg = "verify: nli needs a model."
        raise SettingsError(msg, hint=HINTS["inference model"])
    place = Path(folder).expanduser().resolve()
    # Under the lock, or two first questions would each load it.
    with _lock:
        return _open(place)


@lru_cache(maxsize=1)  # the one that was used last: they are large
def _open(folder: Path) -> EntailmentModel:
    model = model_file(folder, "inference model")
    labels = _labels(folder)
    session, tokenizer = open_pairs(model, tokenizer_file(folder, model, "inference model"))
    # Either side may be the long one: evidence is a sentence or a table, a claim a sentence or a list.
    tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
    return EntailmentModel(session, tokenizer, input_types(session), labels)


def _labels(folder: Path) -> tuple[Judgement, ...]:
    names = read_json(folder, "config.json").get("id2label")
    # transformers writes the numbers of labels as keys of a JSON object, that is as text.
    is_numbered = isinstance(names, dict) and all(key.isdecimal() for key in names)
    named = [str(names[key]).casefold() for key in sorted(names, key=int)] if is_numbered else []
    labels: tuple[Judgement, ...] = tuple(_meaning(name) for name in named)
    if not {"entailed", "contradicted"} <= set(labels):
        msg = f"The model in {str(folder)!r} is not one of inference: its labels are {named!r}."
        raise SettingsError(msg, hint="Its config.json has to name the labels entailment, neutral and contradiction.")
    return labels


def _meaning(label: str) -> Judgement:
    if label.startswith("entail"):
        return "entailed"
    return "contradicted" if label.startswith("contra") else "not_said"
