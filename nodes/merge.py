"""Replace leaves by their parent if most of its children were retrieved."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.agent.nodes.state import RetrievalState, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.retrieval.auto_merging import Merged, room_left
from anabranch.retrieval.auto_merging import merge as merge_chunks
from anabranch.retrieval.query_chain import MAX_LEAVES, is_under_way, join_rounds
from anabranch.store.chunk_ancestors import Ancestry, ancestry_of
from anabranch.types import Candidate, Chunk, Passage

PREVIEW_CHARS = 80


async def merge(state: RetrievalState, turn: Turn) -> Update:
    """Merge upwards over the chunk tree; siblings that the caller may not read are left out."""
    candidates, joined = _join(state)
    merged, known = await merge_candidates(turn, candidates)
    passages = [
        _passage(known[result.id], result.score, result.because) for result in merged.results if result.id in known
    ]
    leaves = [candidate["id"] for candidate in candidates]
    turn.count(leaves=len(leaves), passages=len(passages), gone=sum(leaf not in known for leaf in leaves))
    return {"passages": passages, "texts": known, **joined}


def _join(state: RetrievalState) -> tuple[list[Candidate], Update]:
    """Return the candidates of all rounds of a chain, and the update of the state after a further one."""
    chain = state.get("chain")
    if not is_under_way(chain):
        return state["candidates"], {}
    candidates, new = join_rounds(chain["before"], state["candidates"])
    ended = chain["ended"] if new else "the last search found only what was known"
    found = [candidate["id"] for candidate in state["candidates"][:MAX_LEAVES]]
    joined = {**chain, "before": [], "leaves": [*dict.fromkeys((*chain["leaves"], *found))], "ended": ended}
    return candidates, {"candidates": candidates, "chain": joined}


async def merge_candidates(turn: Turn, candidates: Sequence[Candidate]) -> tuple[Merged, dict[str, Chunk]]:
    """Return the merged passages, whatever the order of the candidates, and the chunks that exist."""
    threshold, window = turn.settings.merge_threshold, turn.settings.window_tokens
    scores = {candidate["id"]: candidate["score"] for candidate in candidates}
    found = await turn.chunks(list(scores))
    around = await ancestry_of(await turn.corpus(), turn.scope, found) if threshold < 1 else Ancestry(found, {})
    known = dict(around.chunks)
    sizes = around.sizes
    # A chunk that was removed or hidden since the search is left out.
    present = {chunk_id: score for chunk_id, score in scores.items() if chunk_id in known}
    merged = merge_chunks(
        present,
        around.parents,
        around.children,
        threshold=threshold,
        sizes=sizes,
        # A parent that is larger than a window would be cut to pieces again.
        budget=window,
        room=room_left((sizes[chunk_id] for chunk_id in present), window),
    )
    # Parents and filled gaps were not read yet.
    missing = [result.id for result in merged.results if result.id not in known]
    known |= await turn.chunks(missing) if missing else {}
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
