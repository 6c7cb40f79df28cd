"""Chooses the queries of each retriever, and gets what `fuse` needs from the corpus.

That is the scores missing from ranked lists, and the evidence for each question.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import cast

from anabranch.errors import OperationError
from anabranch.retrieval import CORPUS_RETRIEVERS
from anabranch.retrieval.fusion import complete
from anabranch.retrieval.fusion.question_weight import QuestionEvidence, weigh
from anabranch.store.protocol import CorpusReader, FullScores, Scope, TermStatistics
from anabranch.types import Arm, Query, Retrieved


def queries_for(retriever: str, queries: Sequence[Query], retrievers: Sequence[str]) -> list[str]:
    """Return the queries of one retriever, in their order; blank where it skips one.

    A passage invented by a model (`hyde`) resembles true ones in meaning, but its names and numbers are made up, and
    BM25 would search for them. BM25 skips it unless it is the only retriever.
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
    if len(records) == 1:  # everything found has its scores already
        return list(records), []
    filled = await _score_all(corpus, scope, queries, records)
    if not {record["retriever"] for record in records} >= {*CORPUS_RETRIEVERS}:
        return filled, []
    # Only what the dense retriever found itself shows how far it can be trusted, not the passages scored for BM25.
    found = {record["retriever"]: record["lists"] for record in records}
    shares = await _known_shares(corpus, scope, [query["text"] for query in queries])
    return filled, [weigh(near["scores"], share) for near, share in zip(found["dense"], shares, strict=True)]


async def _known_shares(corpus: CorpusReader, scope: Scope, texts: Sequence[str]) -> list[float | None]:
    """Return the share of each text's words that the corpus has, where its embedder reads many languages."""
    from anabranch.models.embedder import is_multilingual

    # Looking through a vocabulary takes a while the first time.
    if not isinstance(corpus, TermStatistics) or not await asyncio.to_thread(is_multilingual, corpus.embedder):
        return [None] * len(texts)
    analysed = [set(terms) for terms in await corpus.analyse(texts)]
    known = (await corpus.idf(list(texts), scope)).keys()
    return [len(terms & known) / len(terms) if terms else None for terms in analysed]


async def _score_all(
    corpus: FullScores, scope: Scope, queries: Sequence[Query], records: Sequence[Retrieved]
) -> list[Retrieved]:
    """Score the findings of all retrievers of the corpus with each of them, for its queries.

    The lists of others stay as they are: the corpus cannot tell what an external retriever would score a passage.

    Raises:
        OperationError: The corpus cannot be asked any more.
    """
    ids = list(dict.fromkeys(chunk_id for record in records for found in record["lists"] for chunk_id in found["ids"]))
    retrievers = [record["retriever"] for record in records]
    own: list[Arm] = [cast("Arm", each) for each in retrievers if each in CORPUS_RETRIEVERS]
    # One call for everything: a remote store takes longer for the round trip than for the scores.
    asked: dict[Arm, list[str]] = {arm: queries_for(arm, queries, retrievers) for arm in own}
    known = await corpus.scores(asked, ids, scope)
    return [_fill(record, known.get(cast("Arm", record["retriever"]))) for record in records]


def _fill(record: Retrieved, scores: Sequence[Mapping[str, float]] | None) -> Retrieved:
    if scores is None:
        return record
    # An empty list belongs to a query that this retriever skips or cannot read.
    lists = [
        complete(found, _finite(known)) if found["ids"] else found
        for found, known in zip(record["lists"], scores, strict=True)
    ]
    return Retrieved(retriever=record["retriever"], lists=lists, error=None)


def _finite(scores: Mapping[str, float]) -> dict[str, float]:
    """Omit non-finite scores: such a passage counts as not found by this retriever."""
    return {chunk_id: score for chunk_id, score in scores.items() if math.isfinite(score)}
