"""The way of each passage: its rank in each retriever, fused, reranked, merged, numbered for the model, cited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from anabranch.cli.rich_tables import plain, table_of
from anabranch.readers.document import Chunk

MAX_ROWS = 15
MAX_WHERE = 20


def ways(state: Mapping[str, Any], chunks: Mapping[str, Chunk]) -> Table:
    """Return one row per candidate, best first."""
    candidates = state.get("candidates") or []
    arms = sorted({arm for candidate in candidates for arm in candidate["ranks"]})
    reranked = any(candidate["fused"] != rank for rank, candidate in enumerate(candidates, start=1))
    ranks = [*arms, "fused", *(["rerank"] if reranked else [])]
    title = "Passages: their rank in each list, what they were merged into, their number in the windows"
    table = table_of(
        title, *ranks, "score", "merged", "no.", "cited", "where", "text", right=[*ranks, "score"], wide="text"
    )
    table.columns[-2].max_width = MAX_WHERE
    places = _places(state)
    for rank, candidate in enumerate(candidates[:MAX_ROWS], start=1):
        chunk = chunks.get(candidate["id"])
        table.add_row(
            *(str(candidate["ranks"].get(arm, "-")) for arm in arms),
            str(candidate["fused"]),
            *([str(rank)] if reranked else []),
            f"{candidate['score']:.3f}",
            *places.get(candidate["id"], ("", "left out", "")),
            plain(_where(chunk)) if chunk else "gone",
            _one_line(chunk.text) if chunk else "",
        )
    if len(candidates) > MAX_ROWS:
        table.add_row(*[""] * (len(ranks) + 5), f"... and {len(candidates) - MAX_ROWS} more")
    return table


def _places(state: Mapping[str, Any]) -> dict[str, tuple[str, str, str]]:
    """Return, by leaf id, how it was merged, its passage's numbers in the windows, and the answer's markers for it."""
    numbers: dict[str, list[str]] = {}
    for window in state.get("windows") or []:
        for excerpt in window:
            numbers.setdefault(excerpt["id"], []).append(str(excerpt["number"]))
    markers: dict[str, list[str]] = {}
    for citation in state.get("citations") or []:
        markers.setdefault(citation["chunk_id"], []).append(f"[{citation['marker']}]")
    places: dict[str, tuple[str, str, str]] = {}
    for passage in state.get("passages") or []:
        leaves, identity = passage["leaves"], passage["id"]
        merged = "" if leaves == [identity] else f"{len(leaves)} in 1"
        cited = " ".join(dict.fromkeys(markers.get(identity, [])))
        for leaf in leaves:
            places[leaf] = (merged, " ".join(numbers.get(identity, ["left out"])), cited)
    return places


def _where(chunk: Chunk) -> str:
    name = chunk.source.rsplit("/", 1)[-1]
    return name if chunk.page is None else f"{name} p. {chunk.page}"


def _one_line(text: str) -> Text:
    line = plain(text)
    line.no_wrap, line.overflow = True, "ellipsis"
    return line
