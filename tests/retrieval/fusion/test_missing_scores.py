from __future__ import annotations

import pytest

from anabranch.retrieval.fusion.missing_scores import queries_for
from anabranch.types import Query

QUERIES = [
    Query(text="Who built the weir?", weight=1.0, kind="asked"),
    Query(text="The weir was built by Ida Marrow.", weight=0.25, kind="hyde"),
    Query(text="builder of the weir", weight=0.25, kind="multi"),
]
ALL = [query["text"] for query in QUERIES]


@pytest.mark.parametrize(
    ("retriever", "retrievers"),
    [
        ("dense", ("bm25", "dense")),
        ("dense", ("dense",)),
        ("bm25", ("bm25",)),
        ("mine", ("bm25", "mine")),
    ],
)
def test_a_retriever_searches_for_every_query(retriever: str, retrievers: tuple[str, ...]) -> None:
    assert queries_for(retriever, QUERIES, retrievers) == ALL


def test_bm25_leaves_made_up_passages_to_the_others() -> None:
    assert queries_for("bm25", QUERIES, ("bm25", "dense")) == [ALL[0], "", ALL[2]]
