"""What a question's best passages have to stand out from: how it relates to the passages of a corpus at large."""

from __future__ import annotations

from typing import NamedTuple


class Background(NamedTuple):
    """How a query relates to the passages in scope, the ones that it does not ask for among them.

    Attributes:
        passages: How many leaves there are.
        mean: Of the cosines between the query and a sample of them, evenly spread.
        deviation: Population standard deviation of those cosines.
        rare: What BM25 gives at most for one word that a single passage of the corpus holds.
    """

    passages: int
    mean: float
    deviation: float
    rare: float
