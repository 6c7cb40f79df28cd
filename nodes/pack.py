"""Fill windows with passages, and choose how the answer is written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.nodes.writing import measure_room
from anabranch.retrieval.query_chain import list_brought
from anabranch.synthesis.budget import Prices
from anabranch.synthesis.coverage import describe_excess, is_whole, make_coverage
from anabranch.synthesis.drafts import label
from anabranch.synthesis.near_duplicates import list_names
from anabranch.synthesis.packing import Dropped, PackablePassage, Packed
from anabranch.synthesis.packing import pack as pack_passages
from anabranch.synthesis.routing import BUILT_IN, RouteChoice, afford, choose, choose_whole
from anabranch.synthesis.token_bound import bound_tokens
from anabranch.types import NO_CHAIN, Coverage, Excerpt

if TYPE_CHECKING:
    from anabranch.models.chat import Chat
    from anabranch.synthesis.context_window import Room
    from anabranch.types import Chunk

Window = tuple[PackablePassage, ...]


async def pack(state: State, turn: Turn) -> Update:
    """Pack passages into windows that fit the model, and choose the route by the windows and the remaining budget."""
    corpus, settings = await turn.corpus(), turn.settings
    chunks = await turn.chunks([passage["id"] for passage in state["passages"]])
    chat = await turn.chat()
    coverage = make_coverage(state.get("coverage"), settings.coverage, settings.synthesis)
    labels, question = map(label, chunks.values()), state["turn"]["standalone_question"]
    room = await measure_room(turn, chat, question, labels, rows=coverage["rows"])
    packable = await _list_packable(state, turn, chunks, room)
    whole = is_whole(state.get("coverage"))
    packed = await asyncio.to_thread(
        pack_passages,
        packable,
        budget=settings.window_tokens + (0 if whole else _room_of_chain(state, chunks)),
        count=lambda text: corpus.embedder.count([text])[0],
        max_windows=1 if settings.synthesis == "stuff" and not whole else None,
        limit=room.limit,
        in_order=whole,
    )
    prices = await asyncio.to_thread(_price, turn, packed, room, chat)
    if whole and settings.synthesis in BUILT_IN:
        return _read_whole(state["coverage"], turn, packed, prices, has_model=chat is not None)
    sources = len({chunk.doc_id for chunk in chunks.values()})
    choice = _choose(state, turn, packed, sources=sources, has_model=chat is not None)
    choice = afford(choice, prices, turn.budget.left, chain=room.chain)
    # The last windows are left out, because the best passages are in the first ones.
    read = packed.windows[: len(packed.windows) - choice.unread]
    windows = _number_pieces(read)
    left_out = _list_left_out([*packed.dropped, *_drop_windows(packed.windows[len(read) :])])
    _warn_of_unread(turn, packed, choice, left_out)
    turn.count(windows=len(windows), excerpts=sum(map(len, windows)), dropped=left_out)
    if packed.torn:
        turn.count(cut=list(packed.torn))
    turn.count(route=choice.name)
    return {"windows": windows, "route": {"name": choice.name, "reasons": list(choice.reasons)}}


async def _list_packable(state: State, turn: Turn, chunks: Mapping[str, Chunk], room: Room) -> list[PackablePassage]:
    """Return the passages to pack; for those larger than a window, also where their children begin."""
    corpus, window = await turn.corpus(), turn.settings.window_tokens
    passages = [(chunks[each["id"]], each["score"]) for each in state["passages"] if each["id"] in chunks]
    most = window if room.limit is None else min(window, room.limit.tokens)
    # Children are looked up only for passages that must be cut.
    large = await asyncio.to_thread(_list_large, [chunk for chunk, _ in passages], most)
    children = await corpus.children(large, turn.scope) if large else {}
    inner = await corpus.chunks([each for ids in children.values() for each in ids], turn.scope) if children else {}
    starts = {parent: tuple(inner[each].start for each in ids if each in inner) for parent, ids in children.items()}
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
            names=list_names(chunk.title, chunk.source),
        )
        for chunk, score in passages
    ]


def _list_large(chunks: Sequence[Chunk], most: int) -> list[str]:
    return [chunk.chunk_id for chunk in chunks if bound_tokens(chunk.text, chunk.tokens) > most]


def _room_of_chain(state: State, chunks: Mapping[str, Chunk]) -> int:
    """Return the tokens of the best leaves of a chain's further rounds: they take no room from the first search."""
    brought = list_brought(state.get("chain") or NO_CHAIN, state["passages"])
    return sum(chunks[chunk_id].tokens for chunk_id in brought if chunk_id in chunks)


def _read_whole(coverage: Coverage, turn: Turn, packed: Packed, prices: Prices, *, has_model: bool) -> Update:
    """Have every window of whole documents read; if the budget does not cover that, none is."""
    left = turn.budget.left
    choice = choose_whole(prices, left, rows=coverage["rows"], has_model=has_model)
    cost = prices.cost(choice.name, len(packed.windows))
    priced: Coverage = {**coverage, "calls": int(cost.calls), "tokens": int(cost.tokens)}
    if choice.lacking:
        priced["stopped"] = describe_excess(coverage, prices, left, choice.name, turn.settings)
    windows = [] if choice.lacking else _number_pieces(packed.windows)
    # Said before the first window is read, so that a person can stop it.
    if has_model:
        price = {"calls": priced["calls"], "tokens": priced["tokens"], "rows": coverage["rows"]}
        turn.show(step="pack", status="estimate", windows=len(windows), **price)
    turn.count(windows=len(windows), excerpts=sum(map(len, windows)), dropped=_list_left_out(packed.dropped))
    turn.count(route=choice.name, most_calls=priced["calls"], most_tokens=priced["tokens"])
    return {
        "windows": windows,
        "route": {"name": choice.name, "reasons": list(choice.reasons)},
        "coverage": priced,
    }


def _choose(state: State, turn: Turn, packed: Packed, *, sources: int, has_model: bool) -> RouteChoice:
    """Choose the route by the evidence."""
    return choose(
        windows=len(packed.windows),
        sources=sources,
        scores=[passage["score"] for passage in state["passages"]],
        synthesis=turn.settings.synthesis,
        has_model=has_model,
    )


def _price(turn: Turn, packed: Packed, room: Room, chat: Chat | None) -> Prices:
    settings = turn.settings
    # Groups as small as the context requires, or the tree would seem cheaper than it is.
    whole = room.limit.tokens if room.limit is not None else settings.fan_in * settings.answer_tokens
    return Prices(
        windows=[_count_tokens(window, room) for window in packed.windows],
        frame=room.frame,
        reply=settings.answer_tokens,
        fan_in=max(2, min(settings.fan_in, whole // settings.answer_tokens)),
        thoughts=chat.thoughts if chat is not None else 0,
    )


def _count_tokens(window: Window, room: Room) -> int:
    cost = room.limit.cost if room.limit is not None else bound_tokens
    return sum(cost(piece.text, piece.tokens) for piece in window)


def _number_pieces(windows: Sequence[Window]) -> list[list[Excerpt]]:
    """Number the pieces from 1 through all windows, because an answer may cite several windows."""
    numbered: list[list[Excerpt]] = []
    number = 0
    for window in windows:
        numbered.append([])
        for piece in window:
            number += 1
            numbered[-1].append(Excerpt(number=number, id=piece.id, start=piece.start, end=piece.end))
    return numbered


def _drop_windows(windows: Iterable[Window]) -> list[Dropped]:
    return [Dropped(piece.id, piece.start, piece.end, "not_read") for window in windows for piece in window]


def _list_left_out(dropped: Iterable[Dropped]) -> list[dict[str, Any]]:
    """Return each passage that was left out, with the reason; the pieces of a passage are joined."""
    spans: dict[tuple[str, str], list[int]] = {}
    for item in dropped:
        span = spans.setdefault((item.id, item.reason), [item.start, item.end, 0])
        span[:] = [min(span[0], item.start), max(span[1], item.end), span[2] + 1]
    return [
        {"id": chunk_id, "why": why, "start": start, "end": end, **({"pieces": pieces} if pieces > 1 else {})}
        for (chunk_id, why), (start, end, pieces) in spans.items()
    ]


def _warn_of_unread(turn: Turn, packed: Packed, choice: RouteChoice, left_out: Sequence[Mapping[str, Any]]) -> None:
    """Report what was not read, in one warning for each cause; the trace names each passage."""
    no_room = [item for item in left_out if item["why"] in ("over_limit", "over_budget")]
    if no_room:
        turn.degraded("pack", f"no room for {len(no_room)} passages (window_tokens={turn.settings.window_tokens})")
    if choice.lacking and (choice.unread or choice.name == "compose"):
        read = len(packed.windows) - choice.unread if choice.name != "compose" else 0
        reads = f"the model reads {read} of {len(packed.windows)} windows"
        turn.degraded("pack", f"{reads}: reading all takes {choice.lacking}")
