"""What a window shows, as places in documents: windows from different searches are cut differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.speculation import Shown
from graph.context import Context
from graph.state import Excerpt, Passage
from nodes.resources import chunks_of
from nodes.writing import piece_of


async def shown_of(
    context: Context, state: Mapping[str, Any], excerpts: Sequence[Excerpt], passages: Sequence[Passage] = ()
) -> list[Shown]:
    """Return the pieces that are still there, each with its passage's score as its weight (1 where it has none)."""
    found = await chunks_of(context, state, list(dict.fromkeys(excerpt["id"] for excerpt in excerpts)))
    scores = {passage["id"]: max(passage["score"], 0.0) for passage in passages}
    return [
        Shown(
            number=excerpt["number"],
            doc_id=chunk.doc_id,
            start=excerpt["start"],
            end=excerpt["end"],
            text=piece_of(chunk, excerpt),
            weight=scores.get(excerpt["id"], 1.0),
        )
        for excerpt in excerpts
        if (chunk := found.get(excerpt["id"])) is not None
    ]
