"""Brings vectors to unit length, and refuses those that have no direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from anabranch.errors import ModelError
from anabranch.models.embedder import Vectors


def unit_rows(rows: ArrayLike, *, count: int, embedder: str) -> Vectors:
    """Return the rows at unit length, so that an inner product is a cosine.

    Args:
        rows: Shape (count, dimension).
        count: How many rows there have to be: one per text.
        embedder: Name for the message.

    Raises:
        ModelError: Wrong shape, or a row that is zero, infinite or not a number.
    """
    vectors = np.ascontiguousarray(rows, dtype=np.float32)
    if vectors.ndim != 2 or vectors.shape[0] != count:
        msg = f"The embedder {embedder!r} gave an array of shape {vectors.shape} for {count} texts."
        raise ModelError(msg, hint="Check that the model is a sentence embedder.")
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    usable = np.isfinite(lengths) & (lengths > 0)
    if not usable.all():
        msg = f"The embedder {embedder!r} gave {int((~usable).sum())} vectors that are zero or not finite."
        raise ModelError(msg, hint="The model file may be damaged, or it is no sentence embedder.")
    return np.asarray(vectors / lengths, dtype=np.float32)
