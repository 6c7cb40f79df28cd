"""Join the ranked lists of all retrievers and queries into one list of candidates."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from langgraph.types import Overwrite

from anabranch.agent.nodes.state import RetrievalState, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.errors import OperationError
from anabranch.retrieval import CORPUS_RETRIEVERS
from anabranch.retrieval.answerability import CALIBRATED
from anabranch.retrieval.fusion import fuse as fuse_lists
from anabranch.retrieval.fusion import promote_best
from anabranch.retrieval.fusion.missing_scores import complete_lists
from anabranch.retrieval.fusion.question_weight import QuestionEvidence, weigh
from anabranch.retrieval.query_chain import current_queries, is_under_way
from anabranch.retrieval.question_words import ALONE, FORM, SPELLING, TOGETHER, has_subject
from anabranch.text.language import language_of
from anabranch.types import NO_EVIDENCE, Candidate, Query, RankedList, Retrieved

if TYPE_CHECKING:
    from anabranch.agent.nodes.settings import Context

EQUAL = 0.5
# Least cosine with a passage of a question that is not about the question before it. Of a reader's questions about
# three documents, 17 of 27 and 22 of 26 reach it, and none such as "And when?".
STRONG = 0.45
# How far the best passage must stand out, too: in a language that the embedder does not know, all passages are near.
STANDS_OUT = 0.6


async def fuse(state: RetrievalState, turn: Turn) -> Update:
    """Fuse within each query across retrievers, then across queries; keep ids, scores and ranks.

    Raises:
        OperationError: Every retriever failed, and nothing was found before.
    """
    settings, chain = turn.settings, state.get("chain")
    queries, is_first = current_queries(state["queries"], chain), not is_under_way(chain)
    good = _drop_failed(turn, state["ranked_lists"], needs_one=is_first)
    if is_first:
        queries, good = await _drop_former(turn, queries, good)
    records, found = good, list[QuestionEvidence]()
    if settings.fusion == "complete" and any(record["retriever"] in CORPUS_RETRIEVERS for record in good):
        try:
            records, found = await complete_lists(await turn.corpus(), turn.scope, queries, good)
        except OperationError as error:
            turn.degraded("fuse", error.message)
    fused = _fuse(settings, queries, records, found) if records else RankedList(ids=[], scores=[])
    # No more than the next steps use, because every checkpoint holds them; each may have a copy.
    keep = 2 * max(settings.rerank_depth if settings.rerank != "none" else 0, settings.top_k)
    best = _best_ranks(good)
    candidates = [
        Candidate(id=chunk_id, score=round(score, 6), ranks=best.get(chunk_id, {}), fused=rank)
        for rank, (chunk_id, score) in enumerate(zip(fused["ids"][:keep], fused["scores"][:keep], strict=True), start=1)
    ]
    before = chain["before"] if chain else []
    kept = {candidate["id"] for candidate in (*before, *candidates)}
    # The reasons for the weight, unless it was given.
    weighed = asdict(found[0]) if found and settings.alpha is None else {}
    why = {name: round(value, 2) for name, value in weighed.items() if value is not None}
    turn.count(lists=len(good) * len(queries), fused=len(fused["ids"]), kept=len(candidates), **why)
    update: Update = {
        "candidates": candidates,
        "ranked_lists": Overwrite([]),
        # External passages that were not kept are removed, or a thread would keep all that were ever found.
        "external_passages": Overwrite(
            {key: value for key, value in (state.get("external_passages") or {}).items() if key in kept}
        ),
    }
    if not is_first:
        return update
    # What is measured is how well the question itself is met, so later rounds of a chain leave it unchanged.
    update["evidence"] = {**(state.get("evidence") or NO_EVIDENCE), "scores": _evidence_scores(good, queries)}
    if queries != state["queries"]:
        update["turn"] = {**state["turn"], "standalone_question": queries[0]["text"]}
    return {**update, "queries": queries}


def _drop_failed(turn: Turn, retrieved: list[Retrieved], *, needs_one: bool) -> list[Retrieved]:
    """Return the records of the retrievers that worked, and report those that failed."""
    failures = [(f"retrieve:{each['retriever']}", each["error"]) for each in retrieved if each["error"] is not None]
    good = [record for record in retrieved if record["error"] is None]
    if needs_one and not good:
        reasons = "; ".join(f"{step}: {reason}" for step, reason in failures) or "no retriever ran"
        msg = f"Every retriever failed: {reasons}."
        raise OperationError(msg, hint="Run `anabranch doctor`.")
    for step, reason in failures:
        turn.degraded(step, reason)
    return good


async def _drop_former(
    turn: Turn, queries: list[Query], records: list[Retrieved]
) -> tuple[list[Query], list[Retrieved]]:
    """Leave out the previous question if this one has a subject, and a strong match by itself."""
    dense = next((record["lists"] for record in records if record["retriever"] == "dense"), [])
    if queries[0]["kind"] != TOGETHER or not dense or not _is_strong(dense[1]):
        return queries, records
    if not has_subject(queries[1]["text"], language_of(queries[0]["text"], "english")):
        return queries, records
    # The thresholds hold only for the calibrated embedders.
    if (await turn.corpus()).embedder.name not in CALIBRATED:
        return queries, records
    # A respelt query consists of both questions.
    kept = [at for at, query in enumerate(queries) if query["kind"] not in (TOGETHER, SPELLING, FORM)]
    alone = [Query(text=queries[1]["text"], weight=1.0, kind=queries[1]["kind"]), *(queries[at] for at in kept[1:])]
    return alone, [{**record, "lists": [record["lists"][at] for at in kept]} for record in records]


def _is_strong(ranked: RankedList) -> bool:
    return _top(ranked) >= STRONG and weigh(ranked["scores"]).trust >= STANDS_OUT


def _fuse(
    settings: Context, queries: list[Query], records: list[Retrieved], found: list[QuestionEvidence]
) -> RankedList:
    # Each query has its own weights.
    chosen = [each.alpha for each in found] or [EQUAL] * len(queries)
    alphas = chosen if settings.alpha is None else [settings.alpha] * len(queries)
    retrievers = [record["retriever"] for record in records]
    weights = [_retriever_weights(retrievers, alpha) for alpha in alphas]
    fused = fuse_lists(
        [[record["lists"][index] for record in records] for index in range(len(queries))],
        query_weights=[query["weight"] for query in queries],
        weights=weights,
        method=settings.fusion,
    )
    # The question's own lists, without those of weight 0.
    heard = [record["lists"][0] for record, weight in zip(records, weights[0], strict=True) if weight]
    return promote_best(fused, heard)


def _retriever_weights(retrievers: list[str], alpha: float) -> list[float]:
    """Weigh the two retrievers of the corpus by alpha; an external one weighs as much as each does at alpha 0.5.

    If alpha gives the only remaining retriever a weight of 0, all weights are 1.
    """
    weights = [{"dense": 2 * alpha, "bm25": 2 * (1 - alpha)}.get(retriever, 1.0) for retriever in retrievers]
    return weights if any(weights) else [1.0] * len(retrievers)


def _best_ranks(records: list[Retrieved]) -> dict[str, dict[str, int]]:
    best: dict[str, dict[str, int]] = {}
    for record in records:
        for ranked in record["lists"]:
            for rank, chunk_id in enumerate(ranked["ids"], start=1):
                ranks = best.setdefault(chunk_id, {})
                ranks[record["retriever"]] = min(rank, ranks.get(record["retriever"], rank))
    return best


def _evidence_scores(records: list[Retrieved], queries: list[Query]) -> dict[str, float]:
    """Return what `grade` needs of the lists: each retriever's best score for the question, and their agreement.

    For a question that is searched for together with the previous one, also its own best cosine.
    """
    first = {record["retriever"]: record["lists"][0] for record in records if record["lists"]}
    scores = {retriever: round(_top(ranked), 4) for retriever, ranked in first.items()}
    # The previous question had evidence, so the follow-up is also judged alone.
    if queries[0]["kind"] == TOGETHER and "dense" in first:
        alone = next(record["lists"][1] for record in records if record["retriever"] == "dense")
        scores[ALONE] = round(_top(alone), 4)
    if len(first) > 1:
        tops = [set(ranked["ids"][:10]) for ranked in first.values()]
        shared, every = set.intersection(*tops), set.union(*tops)
        scores["agreement"] = round(len(shared) / len(every), 3) if every else 0.0
    return scores


def _top(ranked: RankedList) -> float:
    return ranked["scores"][0] if ranked["scores"] else 0.0
