"""Replace leaves by their parent where most of its children were retrieved."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import RetrievalState
from anabranch.agent.nodes.support.dependencies import chunks_of, corpus_of, scope_of
from anabranch.agent.nodes.support.state_records import Passage
from anabranch.agent.nodes.support.tracing import Update, traced
from anabranch.readers.document import Chunk
from anabranch.retrieval.auto_merging import Merged, room_left
from anabranch.retrieval.auto_merging import merge as merge_chunks
from anabranch.store.chunk_ancestors import Ancestry, ancestry_of

PREVIEW_CHARS = 80


@traced("merge")
async def merge(state: RetrievalState, context: Context) -> Update:
    """Merge upwards over the chunk tree, under the caller's access rules: siblings they may not read stay out."""
    merged, known = await merged_of(context, state)
    passages = [
        _passage(known[result.id], result.score, result.because) for result in merged.results if result.id in known
    ]
    leaves = [candidate["id"] for candidate in state["candidates"]]
    return {
        "passages": passages,
        "texts": known,
        "counts": {
            "leaves": len(leaves),
            "passages": len(passages),
            "gone": sum(leaf not in known for leaf in leaves),
        },
    }


async def merged_of(context: Context, state: RetrievalState) -> tuple[Merged, dict[str, Chunk]]:
    """Return the merged passages, which do not depend on the order of the candidates, and the chunks that exist."""
    corpus, scope = await corpus_of(context), scope_of(context, state.get("active_filters"))
    scores = {candidate["id"]: candidate["score"] for candidate in state["candidates"]}
    found = await chunks_of(context, state, list(scores), corpus=corpus)
    around = await ancestry_of(corpus, scope, found) if context.merge_threshold < 1 else Ancestry(found, {})
    known = dict(around.chunks)
    sizes = around.sizes
    # A chunk that is gone since the search (re-ingested, or out of scope now) has no text to show and is left out.
    candidates = {chunk_id: score for chunk_id, score in scores.items() if chunk_id in known}
    merged = merge_chunks(
        candidates,
        around.parents,
        around.children,
        threshold=context.merge_threshold,
        sizes=sizes,
        # A parent that no window holds would only be cut to pieces again.
        budget=context.window_tokens,
        room=room_left((sizes[chunk_id] for chunk_id in candidates), context.window_tokens),
    )
    # Gaps that were filled in: nobody has read these yet.
    missing = [result.id for result in merged.results if result.id not in known]
    known |= await chunks_of(context, state, missing, corpus=corpus) if missing else {}
    return merged, known


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
