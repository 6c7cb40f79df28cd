"""Put every passage of a document, or of all documents in scope, in the place of those that the search found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.synthesis.coverage import BEYOND, GONE, MOST_DOCUMENTS, MOST_LEAVES, make_coverage
from anabranch.types import Coverage, Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anabranch.store.protocol import Outlines

# Leaves that are fetched at once: only their parents are kept.
BATCH = 500


async def survey(state: State, turn: Turn) -> Update:
    """List what is to be read, in reading order: parents, which are fewer and larger than leaves."""
    from anabranch.store.protocol import Outlines

    corpus, settings = await turn.corpus(), turn.settings
    coverage = make_coverage(state.get("coverage"), settings.coverage, settings.synthesis)
    if corpus.generation == 0 or not isinstance(corpus, Outlines):
        reason = "the store does not list its documents: only the passages that match best are read"
        turn.degraded("coverage", reason)
        return {"coverage": {**coverage, "reach": "passages"}}
    coverage, leaves = await _list_leaves(state, turn, corpus, coverage)
    passages = await _list_parents(turn, corpus, leaves)
    if removed := len(leaves) - sum(len(passage["leaves"]) for passage in passages):
        coverage["unread"] = {**coverage["unread"], GONE: removed}
    if coverage["reach"] == "document" and passages:
        coverage["source"] = passages[0]["source"]
    await turn.audit("survey", documents=coverage["documents"], passages=coverage["leaves"])
    turn.count(reach=coverage["reach"], documents=coverage["documents"], leaves=coverage["leaves"])
    return {"coverage": coverage, "passages": passages}


async def _list_leaves(state: State, turn: Turn, corpus: Outlines, coverage: Coverage) -> tuple[Coverage, list[str]]:
    """Return the ids of the leaves in reading order, at most `MOST_LEAVES`, and the coverage with their number."""
    outlines = await corpus.outlines(turn.scope, MOST_DOCUMENTS if coverage["reach"] == "corpus" else 2)
    doc_ids = [each.doc_id for each in outlines]
    if coverage["reach"] == "document" and len(outlines) != 1:
        doc_ids = await _find_document(state, turn)
    by_document = await corpus.leaves(doc_ids, turn.scope, MOST_LEAVES + 1) if doc_ids else {}
    if not by_document:
        return {**coverage, "stopped": _UNKNOWN if outlines and not doc_ids else _NONE_IN_SCOPE}, []
    every = [leaf for doc_id in doc_ids for leaf in by_document.get(doc_id, [])]
    counted = sum(each.leaves for each in outlines) if coverage["reach"] == "corpus" else 0
    total, leaves = max(len(every), counted), every[:MOST_LEAVES]
    unread = {BEYOND: total - len(leaves)} if total > len(leaves) and len(every) > MOST_LEAVES else {}
    return {**coverage, "documents": len(by_document), "leaves": total, "unread": unread}, leaves


async def _find_document(state: State, turn: Turn) -> list[str]:
    """Return the document with the greatest sum of the scores of what was found; none if nothing was."""
    scores: Counter[str] = Counter()
    # Leaves, because a parent that stands for many has the score of one.
    chunks = await turn.chunks([each["id"] for each in state["candidates"]])
    for each in state["candidates"]:
        # Passages of other retrievers have no document in the corpus.
        if each["id"] in chunks and each["id"] not in (state.get("external_passages") or {}):
            scores[chunks[each["id"]].doc_id] += max(each["score"], 0.0)  # type: ignore[assignment]  # sums of floats
    return [doc_id for doc_id, _ in scores.most_common(1)]


async def _list_parents(turn: Turn, corpus: Outlines, leaves: Sequence[str]) -> list[Passage]:
    """Return the passages that stand for leaves; no previews, because a checkpoint keeps thousands of them."""
    passages: dict[str, Passage] = {}
    for start in range(0, len(leaves), BATCH):
        found = await corpus.chunks(leaves[start : start + BATCH], turn.scope)
        for leaf in found.values():
            key = leaf.parent_id or leaf.chunk_id
            passage = passages.get(key) or Passage(
                id=key, score=1.0, leaves=[], source=leaf.source, page=leaf.page, preview=""
            )
            passage["leaves"].append(leaf.chunk_id)
            passages[key] = passage
    return list(passages.values())


_NONE_IN_SCOPE = "no document that you may read matches: check the filters, or `anabranch corpus stats`"
_UNKNOWN = "the search found no passage that shows which document is meant: name it, or filter by its source"
