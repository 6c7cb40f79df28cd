"""Put every passage of a document, or of all documents in scope, in the place of those that the search found."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from anabranch.agent.nodes.merge import PREVIEW_CHARS
from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.synthesis.coverage import BEYOND, GONE, MOST_DOCUMENTS, MOST_LEAVES, make_coverage
from anabranch.text.normalization import squeeze
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
    if coverage["reach"] == "corpus":
        outlines = await corpus.outlines(turn.scope, MOST_DOCUMENTS + 1)
        if len(outlines) > MOST_DOCUMENTS:
            turn.degraded("coverage", _TOO_MANY)
    elif len(outlines := await corpus.outlines(turn.scope, 2)) > 1:
        found = await _find_document(state, turn)
        if found is None:
            return {**coverage, "stopped": _UNKNOWN}, []
        # The search has applied the filters, and the access tags still hold.
        outlines = await corpus.outlines(replace(turn.scope, filters={"doc_id": found}), 1)
    listed, counted = list[str](), 0
    for each in outlines:
        if counted <= MOST_LEAVES:
            listed.append(each.doc_id)
        counted += each.leaves
    by_document = await corpus.leaves(listed, turn.scope, MOST_LEAVES + 1) if listed else {}
    if not by_document:
        return {**coverage, "stopped": _NONE_IN_SCOPE}, []
    every = [leaf for doc_id in listed for leaf in by_document.get(doc_id, [])]
    leaves, further = every[:MOST_LEAVES], outlines[len(listed) :]
    # The list is newer than the counts, so it is the total where it has all.
    total = max(len(every), counted) if len(every) > MOST_LEAVES or further else len(every)
    unread = {BEYOND: total - len(leaves)} if total > len(leaves) else {}
    return {**coverage, "documents": len(by_document) + len(further), "leaves": total, "unread": unread}, leaves


async def _find_document(state: State, turn: Turn) -> str | None:
    """Return the document with the greatest sum of the scores of what was found; None if nothing was."""
    scores: Counter[str] = Counter()
    # Leaves, because a parent that stands for many has the score of one.
    chunks = await turn.chunks([each["id"] for each in state["candidates"]])
    for each in state["candidates"]:
        # Passages of other retrievers have no document in the corpus.
        if each["id"] in chunks and each["id"] not in (state.get("external_passages") or {}):
            scores[chunks[each["id"]].doc_id] += max(each["score"], 0.0)  # type: ignore[assignment]  # sums of floats
    return next((doc_id for doc_id, _ in scores.most_common(1)), None)


async def _list_parents(turn: Turn, corpus: Outlines, leaves: Sequence[str]) -> list[Passage]:
    """Return the passages that stand for leaves; only a person who reviews them needs their first words."""
    passages: dict[str, Passage] = {}
    is_reviewed = turn.settings.review == "sources"
    for start in range(0, len(leaves), BATCH):
        found = await corpus.chunks(leaves[start : start + BATCH], turn.scope)
        for leaf in found.values():
            key = leaf.parent_id or leaf.chunk_id
            preview = leaf.text[:PREVIEW_CHARS] if is_reviewed else ""
            passage = passages.get(key) or Passage(
                id=key, score=1.0, leaves=[], source=leaf.source, page=leaf.page, preview=squeeze(preview)
            )
            passage["leaves"].append(leaf.chunk_id)
            passages[key] = passage
    return list(passages.values())


_NONE_IN_SCOPE = "no document that you may read matches: check the filters, or `anabranch corpus stats`"
_UNKNOWN = "the search found no passage that shows which document is meant: name it, or filter by its source"
_TOO_MANY = f"there are more than {MOST_DOCUMENTS:,} documents, and only so many are counted: narrow them with filters"
