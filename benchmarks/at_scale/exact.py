"""The exact nearest passages by fp32 inner product, block by block: what recall is measured against."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

BLOCK = 65_536


def nearest(vectors: np.ndarray, questions: np.ndarray, allowed: np.ndarray | None, k: int) -> np.ndarray:
    """Return the rows nearest to each question.

    Args:
        vectors: Shape (rows, dimension), may be mapped.
        questions: Shape (questions, dimension).
        allowed: Shape (rows,), what the filter lets pass; None for everything.
        k: How many.

    Returns:
        Shape (questions, k), best first; -1 where fewer rows are allowed.
    """
    scores = np.full((len(questions), k), -np.inf, dtype=np.float32)
    rows = np.full((len(questions), k), -1, dtype=np.int64)
    for start in range(0, len(vectors), BLOCK):
        numbers = np.arange(start, min(start + BLOCK, len(vectors)))
        if allowed is not None:
            numbers = numbers[allowed[numbers]]
        found = questions @ np.asarray(vectors[numbers]).T
        if len(numbers) > k:
            near = np.argpartition(-found, k - 1, axis=1)[:, :k]
            found, numbers = np.take_along_axis(found, near, axis=1), numbers[near]
        scores = np.concatenate([scores, found], axis=1)
        rows = np.concatenate([rows, np.broadcast_to(numbers, found.shape)], axis=1)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        scores, rows = np.take_along_axis(scores, best, axis=1), np.take_along_axis(rows, best, axis=1)
    return rows


def recall(found: Iterable[Iterable[int]], exact: np.ndarray) -> float:
    """Return which share of the exact nearest rows was found, over all questions."""
    hits = possible = 0
    for rows, expected in zip(found, exact, strict=False):
        wanted = {int(row) for row in expected if row >= 0}
        hits += len(wanted & set(rows))
        possible += len(wanted)
    return hits / possible if possible else 1.0
