"""Which retriever searches for which query, and what `fuse` asks the corpus for.

That is the scores that ranked lists lack, and what the evidence for each question is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast

from anabranch.errors import OperationError
from anabranch.retrieval import CORPUS_RETRIEVERS
from anabranch.retrieval.fusion import complete
from anabranch.retrieval.fusion.question_weight import QuestionEvidence, weigh
from anabranch.store.protocol import CorpusReader, FullScores, Scope
from anabranch.types import Arm, Query, Retrieved


def queries_for(retriever: str, queries: Sequence[Query], retrievers: Sequence[str]) -> list[str]:
    """Return what one retriever searches for, in the order of the queries; blank where one is not for it.

    A passage that a model made up (`hyde`) means what true ones mean, but its names and numbers are invented: BM25
    would find whatever happens to hold them. Where BM25 is alone, they are all there is.
    """
    if retriever != "bm25":
        return [query["text"] for query in queries]
    return ["" if query["kind"] == "hyde" and len(retrievers) > 1 else query["text"] for query in queries]


async def complete_lists(
    corpus: CorpusReader, scope: Scope, queries: Sequence[Query], records: Sequence[Retrieved]
) -> tuple[list[Retrieved], list[QuestionEvidence]]:
    """Return the records with complete lists, and how to weigh the two retrievers of the corpus for each query.

    No weights where only one of them is among the records.

    Raises:
        OperationError: The corpus cannot be asked any more, or its store gives no scores but those of its lists.
    """
    if not isinstance(corpus, FullScores):
        raise OperationError("the store cannot score further passages: its lists are fused unchanged")
    if len(records) == 1:  # nothing was found that it has not scored
        return list(records), []
    filled = await _score_all(corpus, scope, queries, records)
    if not {record["retriever"] for record in records} >= {*CORPUS_RETRIEVERS}:
        return filled, []
    # What the dense retriever found itself, apart from what was scored for BM25's sake: only that tells of its trust.
    found = {record["retriever"]: record["lists"] for record in records}
    return filled, [weigh(near["scores"]) for near in found["dense"]]


async def _score_all(
    corpus: FullScores, scope: Scope, queries: Sequence[Query], records: Sequence[Retrieved]
) -> list[Retrieved]:
    """Score with each retriever of the corpus what all of them found, for any query that it searches for.

    The lists of others stay as they are: the corpus cannot tell what an external retriever would score a passage.

    Raises:
        OperationError: The corpus cannot be asked any more.
    """
    ids = list(dict.fromkeys(chunk_id for record in records for found in record["lists"] for chunk_id in found["ids"]))
    retrievers = [record["retriever"] for record in records]
    own: list[Arm] = [cast("Arm", each) for each in retrievers if each in CORPUS_RETRIEVERS]
    # All of it at once: a store across a network takes longer for the way than for the scores.
    asked: dict[Arm, list[str]] = {arm: queries_for(arm, queries, retrievers) for arm in own}
    known = await corpus.scores(asked, ids, scope)
    return [_fill(record, known.get(cast("Arm", record["retriever"]))) for record in records]


def _fill(record: Retrieved, scores: Sequence[Mapping[str, float]] | None) -> Retrieved:
    if scores is None:
        return record
    # A list without any passage is of a query that this retriever does not search for, or cannot read.
    lists = [
        complete(found, _finite(known)) if found["ids"] else found
        for found, known in zip(record["lists"], scores, strict=True)
    ]
    return Retrieved(retriever=record["retriever"], lists=lists, error=None)


def _finite(scores: Mapping[str, float]) -> dict[str, float]:
    """Leave out what is no number: the passage then counts as if this retriever had not found it."""
    return {chunk_id: score for chunk_id, score in scores.items() if math.isfinite(score)}
