"""Fill windows with passages, and choose how the answer is written."""

from __future__ import annotations

from langgraph.runtime import Runtime

from anabranch.choices import choose
from anabranch.packing import Passage as Packable
from anabranch.packing import pack as pack_passages
from graph.context import Context, settle
from graph.state import Degraded, Excerpt, State
from nodes.resources import chunks_of, corpus_of
from nodes.traced import Update, traced


@traced("pack")
async def pack(state: State, runtime: Runtime[Context]) -> Update:
    """Pack passages into windows of `window_tokens`, number them, and choose the route on what there is."""
    context = settle(state.get("settings"), runtime)
    corpus = await corpus_of(context)
    found = await chunks_of(context, state, [passage["id"] for passage in state["passages"]], corpus=corpus)
    packable = [
        Packable(
            id=chunk.chunk_id,
            doc_id=chunk.doc_id,
            start=chunk.start,
            end=chunk.end,
            score=passage["score"],
            tokens=chunk.tokens,
            text=chunk.text,
        )
        for passage in state["passages"]
        if (chunk := found.get(passage["id"])) is not None
    ]
    packed = pack_passages(
        packable,
        budget=context.window_tokens,
        count=lambda text: corpus.embedder.count([text])[0],
        max_windows=1 if context.synthesis == "stuff" else None,
    )
    windows: list[list[Excerpt]] = []
    number = 0
    for window in packed.windows:
        excerpts = []
        for piece in window:
            number += 1
            excerpts.append(Excerpt(number=number, id=piece.id, start=piece.start, end=piece.end))
        windows.append(excerpts)
    choice = choose(
        windows=len(windows),
        question=state["standalone"],
        sources=len({chunk.doc_id for chunk in found.values()}),
        scores=[passage["score"] for passage in state["passages"]],
        synthesis=context.synthesis,
        has_model=context.model is not None,
    )
    dropped = [{"id": item.id, "why": item.reason} for item in packed.dropped]
    degraded = [
        Degraded(step="pack", reason=f"no room for passage {item.id} (window_tokens={context.window_tokens})")
        for item in packed.dropped
        if not item.reason.startswith("duplicate")
    ]
    return {
        "windows": windows,
        "route": {"name": choice.name, "reasons": list(choice.reasons)},
        "degraded": degraded,
        "counts": {
            "windows": len(windows),
            "excerpts": number,
            "dropped": dropped[:20],
            "route": choice.name,
        },
    }
