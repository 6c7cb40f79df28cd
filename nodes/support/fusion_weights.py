"""Which retriever searches for which query, and what `fuse` asks the corpus for.

That is the scores that ranked lists lack, and what the evidence for each question is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from anabranch.errors import OperationError
from anabranch.retrieval.fusion.full_scores import completed
from anabranch.retrieval.fusion.question_weight import QuestionEvidence, weigh
from anabranch.store.protocol import Arm, CorpusReader, FullScores, Scope
from nodes.support.state_records import Query, Retrieved

ARMS: frozenset[str] = frozenset(get_args(Arm))


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


async def _complete(
    corpus: FullScores, scope: Scope, queries: Sequence[Query], records: Sequence[Retrieved]
) -> list[Retrieved]:
    """Score with each retriever of the corpus what all of them found, for any query that it searches for.

    The lists of others stay as they are: the corpus cannot tell what a guest would have thought of a passage.

    Raises:
        OperationError: The corpus cannot be asked any more.
    """
    ids = list(dict.fromkeys(chunk_id for record in records for found in record["lists"] for chunk_id in found["ids"]))
    arms = [record["arm"] for record in records]

    async def filled(record: Retrieved) -> Retrieved:
        if record["arm"] not in ARMS or len(records) == 1:
            return record
        scores = await corpus.scores(cast("Arm", record["arm"]), searched(queries, record["arm"], arms), ids, scope)
        lists = [completed(found, known) for found, known in zip(record["lists"], scores, strict=True)]
        return Retrieved(arm=record["arm"], lists=lists, error=None)

    # One after the other: side by side, threads that take half a millisecond each spend more on waiting for their turn.
    return [await filled(record) for record in records]


async def informed(
    corpus: CorpusReader, scope: Scope, queries: Sequence[Query], records: Sequence[Retrieved]
) -> tuple[list[Retrieved], list[QuestionEvidence]]:
    """Return the records with complete lists, and how to weigh the two retrievers of the corpus for each query.

    No weights where only one of them is among the records.

    Raises:
        OperationError: The corpus cannot be asked any more, or its store gives no scores but those of its lists.
    """
    if not isinstance(corpus, FullScores):
        raise OperationError("the store gives no scores but those of its lists: they are fused as they are")
    if not {record["arm"] for record in records} >= ARMS:
        return await _complete(corpus, scope, queries, records), []
    texts = [query["text"] for query in queries]
    filled = await _complete(corpus, scope, queries, records)
    backgrounds = await corpus.background(texts, scope)
    lists = {record["arm"]: record["lists"] for record in filled}
    return filled, [
        weigh(bm25["scores"], dense["scores"], background)
        for bm25, dense, background in zip(lists["bm25"], lists["dense"], backgrounds, strict=True)
    ]
