"""From token vectors to one vector for a text, as in Sentence-BERT (Reimers and Gurevych 2019, section 3).

Each takes token vectors of shape (tokens, dimension) of one text, without padding, and returns shape (dimension,);
lengths do not matter, because every vector is brought to unit length afterwards.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Pooling = Callable[[NDArray[np.float32]], NDArray[np.float32]]


def mean(tokens: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean of all tokens: MiniLM, GTE, E5, mpnet."""
    return np.asarray(tokens.mean(axis=0), dtype=np.float32)


def cls(tokens: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the first token: BGE, Arctic, mxbai."""
    return np.asarray(tokens[0], dtype=np.float32)


def maximum(tokens: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the largest value of each dimension."""
    return np.asarray(tokens.max(axis=0), dtype=np.float32)


def weighted_mean(tokens: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean weighted by position, counted from 1: SGPT (Muennighoff 2022, equation 2)."""
    weights = np.arange(1, len(tokens) + 1, dtype=np.float32)
    return np.asarray(weights @ tokens / weights.sum(), dtype=np.float32)


def last(tokens: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the last token: encoders made from decoders."""
    return np.asarray(tokens[-1], dtype=np.float32)


POOLINGS: dict[str, Pooling] = {
    "mean": mean,
    "cls": cls,
    "max": maximum,
    "mean_sqrt_len_tokens": mean,  # a mean of another length, in the same direction
    "weightedmean": weighted_mean,
    "lasttoken": last,
}
"""By the names that sentence-transformers has for them."""
