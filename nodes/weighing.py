"""What `fuse` asks the corpus for: the scores that ranked lists lack, and what the evidence for each question is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from anabranch.corpus.store import Arm, CorpusStore, Scope
from anabranch.fusion.complete import completed
from anabranch.fusion.evidence import Evidence, weigh
from graph.state import Query, Retrieved
from nodes.searched import searched

ARMS: frozenset[str] = frozenset(get_args(Arm))


async def complete_lists(
    corpus: CorpusStore, scope: Scope, queries: Sequence[Query], records: Sequence[Retrieved]
) -> list[Retrieved]:
    """Score with each retriever of the corpus what all of them found, for any query that it searches for.

    The lists of others stay as they are: the corpus cannot tell what a guest would have thought of a passage.

    Raises:
        OperationError: The corpus cannot be asked any more.
    """
    ids = list(dict.fromkeys(chunk_id for record in records for found in record["lists"] for chunk_id in found["ids"]))
    filled = []
    for record in records:
        lists = record["lists"]
        if record["arm"] in ARMS and len(records) > 1:
            texts = searched(queries, record["arm"], [each["arm"] for each in records])
            scores = await corpus.scores(cast("Arm", record["arm"]), texts, ids, scope)
            lists = [completed(found, known) for found, known in zip(lists, scores, strict=True)]
        filled.append(Retrieved(arm=record["arm"], lists=lists, error=None))
    return filled


async def evidence(
    corpus: CorpusStore, scope: Scope, texts: Sequence[str], records: Sequence[Retrieved]
) -> list[Evidence]:
    """Weigh the two retrievers of the corpus for each query; nothing where only one of them has complete lists.

    Raises:
        OperationError: The corpus cannot be asked any more.
    """
    lists = {record["arm"]: record["lists"] for record in records}
    if not lists.keys() >= ARMS:
        return []
    backgrounds = await corpus.background(texts, scope)
    return [
        weigh(bm25["scores"], dense["scores"], background)
        for bm25, dense, background in zip(lists["bm25"], lists["dense"], backgrounds, strict=True)
    ]
