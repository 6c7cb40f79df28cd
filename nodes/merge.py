"""Replace leaves by their parent where most of its children were retrieved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langgraph.runtime import Runtime

from anabranch.corpus.document import Chunk
from anabranch.merging import merge as merge_chunks
from graph.context import Context, settle
from graph.state import Passage, State
from nodes.resources import chunks_of, corpus_of, scope_of
from nodes.traced import Update, traced

PREVIEW_CHARS = 80


@traced("merge")
async def merge(state: State, runtime: Runtime[Context]) -> Update:
    """Merge upwards over the chunk tree, under the caller's access rules: siblings they may not read stay out."""
    context = settle(state.get("settings"), runtime)
    corpus, scope = await corpus_of(context), scope_of(context, state.get("narrowed"))
    scores = {candidate["id"]: candidate["score"] for candidate in state["candidates"]}
    known = await chunks_of(context, state, list(scores), corpus=corpus)
    parents: dict[str, str | None] = {chunk_id: chunk.parent_id for chunk_id, chunk in known.items()}
    children: dict[str, list[str]] = {}
    if context.merge_threshold < 1:
        level = _parents(known.values())
        while level:
            found = await corpus.chunks(level, scope)
            children |= await corpus.children(list(found), scope)
            parents |= {chunk_id: chunk.parent_id for chunk_id, chunk in found.items()}
            known |= found
            level = _parents(found.values())
    # A chunk that is gone since the search (re-ingested, or out of scope now) has no text to show and is left out.
    merged = merge_chunks(
        {chunk_id: score for chunk_id, score in scores.items() if chunk_id in known},
        parents,
        children,
        threshold=context.merge_threshold,
    )
    missing = [result.id for result in merged.results if result.id not in known]
    known |= await chunks_of(context, state, missing, corpus=corpus) if missing else {}
    passages = [
        _passage(known[result.id], result.score, result.because) for result in merged.results if result.id in known
    ]
    return {
        "passages": passages,
        "counts": {"leaves": len(scores), "passages": len(passages), "gone": len(scores) - len(scores.keys() & known)},
    }


def _parents(chunks: Iterable[Chunk]) -> list[str]:
    return list(dict.fromkeys(chunk.parent_id for chunk in chunks if chunk.parent_id))


def _passage(chunk: Chunk, score: float, leaves: Sequence[str]) -> Passage:
    preview = " ".join(chunk.text.split())[:PREVIEW_CHARS]
    return Passage(
        id=chunk.chunk_id,
        score=round(score, 6),
        leaves=list(leaves),
        source=chunk.source,
        page=chunk.page,
        preview=preview,
    )
