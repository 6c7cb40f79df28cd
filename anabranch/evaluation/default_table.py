"""What is measured on a person's own collection: the settings in force beside what they are made of."""

from __future__ import annotations

from anabranch.evaluation.score_tables import Table

ALONE = {"strategy": "none", "rerank": "none"}
"""The question itself and nothing else, so that a retriever or a way of fusing is seen on its own."""

METRICS = ("nDCG@10", "RR@10", "R@5", "R@10", "R@20", "Success@5", "Success@10", "Success@20")
PASSAGE_METRICS = ("Success@10", "Success@3", "Success@5", "Success@24", "RR@10")
"""Where passages are judged: how many questions have their evidence among the first few; 24 reach an answer."""

DEFAULT = "default"


def usual_table(collection: str, *, passages: bool = False, baseline: str = DEFAULT, embedder: str = "") -> Table:
    """Return the table for one collection: the default, each retriever alone, and plain rank fusion.

    Args:
        collection: Its name.
        passages: Whether passages are judged, not documents.
        baseline: What the others are compared with.
        embedder: As in ingest; empty for the default one.
    """
    return Table(
        title=f"Retrieval on {collection}",
        metrics=PASSAGE_METRICS if passages else METRICS,
        baseline=baseline,
        embedder=embedder,
        configurations={
            DEFAULT: {},
            "bm25": {"retrievers": ["bm25"], **ALONE},
            "dense": {"retrievers": ["dense"], **ALONE},
            "rrf": {"retrievers": ["bm25", "dense"], "fusion": "rrf", **ALONE},
        },
        collections=(collection,),
    )
