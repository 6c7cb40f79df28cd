"""Which retriever searches for which query."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.state import Query


def searched(queries: Sequence[Query], arm: str, arms: Sequence[str]) -> list[str]:
    """Return what one retriever searches for, in the order of the queries; blank where one is not for it.

    A passage that a model made up (`hyde`) means what true ones mean, but its names and numbers are invented: BM25
    would find whatever happens to hold them. Where BM25 is alone, they are all there is.

    Args:
        queries: The question and what was made from it.
        arm: The retriever.
        arms: All retrievers of this search.
    """
    without_made_up = arm == "bm25" and len(arms) > 1
    return ["" if without_made_up and query["kind"] == "hyde" else query["text"] for query in queries]
