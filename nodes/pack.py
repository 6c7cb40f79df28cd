"""Fill windows with passages, and choose how the answer is written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.context_window import Room, room_of
from anabranch.agent.nodes.support.dependencies import chunks_of, corpus_of, model_of, scope_of
from anabranch.agent.nodes.support.drafts import label
from anabranch.agent.nodes.support.state_records import Degraded, Excerpt
from anabranch.agent.nodes.support.tracing import Update, traced
from anabranch.agent.nodes.support.turn_budget import left_of
from anabranch.models.chat import Chat
from anabranch.readers.document import Chunk
from anabranch.store.protocol import CorpusReader
from anabranch.synthesis.budget import Prices
from anabranch.synthesis.packing import Dropped, PackablePassage, Packed
from anabranch.synthesis.packing import pack as pack_passages
from anabranch.synthesis.routing import RouteChoice, afford, choose
from anabranch.synthesis.token_bound import at_most

Window = tuple[PackablePassage, ...]


@traced("pack")
async def pack(state: State, context: Context) -> Update:
    """Pack passages into windows that fit the model, and choose the route by the windows and the remaining budget."""
    corpus = await corpus_of(context)
    found = await chunks_of(context, state, [passage["id"] for passage in state["passages"]], corpus=corpus)
    chat = await model_of(context)
    room = room_of(context, corpus, chat, state["standalone_question"], map(label, found.values()))
    packable = await _packable(context, state, corpus, found, room)
    packed = await asyncio.to_thread(
        pack_passages,
        packable,
        budget=context.window_tokens,
        count=lambda text: corpus.embedder.count([text])[0],
        max_windows=1 if context.synthesis == "stuff" else None,
        limit=room.limit,
    )
    sources = len({chunk.doc_id for chunk in found.values()})
    choice = _choice(context, state, packed, room, sources=sources, chat=chat)
    # From the end: the best passages are in the first window.
    read = packed.windows[: len(packed.windows) - choice.unread]
    windows = _numbered(read)
    left_out = _left_out([*packed.dropped, *_unread(packed.windows[len(read) :])])
    return {
        "windows": windows,
        "route": {"name": choice.name, "reasons": list(choice.reasons)},
        "degraded": _degraded(context, packed, choice, left_out),
        "counts": {
            "windows": len(windows),
            "excerpts": sum(map(len, windows)),
            "dropped": left_out,
            **({"cut": list(packed.torn)} if packed.torn else {}),
            "route": choice.name,
        },
    }


async def _packable(
    context: Context, state: State, corpus: CorpusReader, found: Mapping[str, Chunk], room: Room
) -> list[PackablePassage]:
    """Return the passages for packing; for those larger than a window, also where their children begin."""
    chosen = [(found[one["id"]], one["score"]) for one in state["passages"] if one["id"] in found]
    most = context.window_tokens if room.limit is None else min(context.window_tokens, room.limit.tokens)
    # Only of those that are cut is it asked where their children begin: most passages fit.
    large = [chunk.chunk_id for chunk, _ in chosen if at_most(chunk.text, chunk.tokens) > most]
    scope = scope_of(context, state.get("active_filters"))
    children = await corpus.children(large, scope) if large else {}
    inner = await corpus.chunks([one for several in children.values() for one in several], scope) if children else {}
    starts = {
        parent: tuple(inner[one].start for one in several if one in inner) for parent, several in children.items()
    }
    return [
        PackablePassage(
            id=chunk.chunk_id,
            doc_id=chunk.doc_id,
            start=chunk.start,
            end=chunk.end,
            score=score,
            tokens=chunk.tokens,
            text=chunk.text,
            parts=starts.get(chunk.chunk_id, ()),
        )
        for chunk, score in chosen
    ]


def _choice(
    context: Context, state: State, packed: Packed, room: Room, *, sources: int, chat: Chat | None
) -> RouteChoice:
    """Choose by the evidence, then stay within the remaining budget of the question."""
    choice = choose(
        windows=len(packed.windows),
        sources=sources,
        scores=[passage["score"] for passage in state["passages"]],
        synthesis=context.synthesis,
        has_model=chat is not None,
    )
    # No more answers in a group than its call has room for, or the tree would be cheaper on paper than in fact.
    whole = room.limit.tokens if room.limit is not None else context.fan_in * context.answer_tokens
    prices = Prices(
        windows=[_tokens(window, room) for window in packed.windows],
        frame=room.frame,
        reply=context.answer_tokens,
        fan_in=max(2, min(context.fan_in, whole // context.answer_tokens)),
        thoughts=chat.thoughts if chat is not None else 0,
    )
    return afford(choice, prices, left_of(context, state["trace"]), chain=room.chain)


def _tokens(window: Window, room: Room) -> int:
    cost = room.limit.cost if room.limit is not None else at_most
    return sum(cost(piece.text, piece.tokens) for piece in window)


def _numbered(windows: Sequence[Window]) -> list[list[Excerpt]]:
    """Number the pieces from 1 through all windows: an answer from several windows cites by one count."""
    numbered: list[list[Excerpt]] = []
    number = 0
    for window in windows:
        numbered.append([])
        for piece in window:
            number += 1
            numbered[-1].append(Excerpt(number=number, id=piece.id, start=piece.start, end=piece.end))
    return numbered


def _unread(windows: Iterable[Window]) -> list[Dropped]:
    return [Dropped(piece.id, piece.start, piece.end, "not_read") for window in windows for piece in window]


def _left_out(dropped: Iterable[Dropped]) -> list[dict[str, Any]]:
    """Return each passage that was left out with its reason, once however many pieces it came in."""
    spans: dict[tuple[str, str], list[int]] = {}
    for item in dropped:
        span = spans.setdefault((item.id, item.reason), [item.start, item.end, 0])
        span[:] = [min(span[0], item.start), max(span[1], item.end), span[2] + 1]
    return [
        {"id": chunk_id, "why": why, "start": start, "end": end, **({"pieces": pieces} if pieces > 1 else {})}
        for (chunk_id, why), (start, end, pieces) in spans.items()
    ]


def _degraded(
    context: Context, packed: Packed, choice: RouteChoice, left_out: Sequence[Mapping[str, Any]]
) -> list[Degraded]:
    """Return one warning about what was not read; the trace names each passage."""
    said = []
    no_room = [item for item in left_out if item["why"] in ("over_limit", "over_budget")]
    if no_room:
        said.append(f"no room for {len(no_room)} passages (window_tokens={context.window_tokens})")
    if choice.lacking and (choice.unread or choice.name == "compose"):
        read = len(packed.windows) - choice.unread if choice.name != "compose" else 0
        said.append(f"the model reads {read} of {len(packed.windows)} windows: reading all takes {choice.lacking}")
    return [Degraded(step="pack", reason=reason) for reason in said]
