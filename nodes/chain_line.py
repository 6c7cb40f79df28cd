"""The line of an answer that names the values of its chain, each with the passage that it stands in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.turn import Turn
from anabranch.citations.deep_links import link_to
from anabranch.retrieval.query_chain import list_brought
from anabranch.store.file_identity import is_url
from anabranch.text.phrases import phrases_for
from anabranch.text.sentences import spans
from anabranch.types import NO_CHAIN, Chunk, Citation, Link

if TYPE_CHECKING:
    from anabranch.store.protocol import Place


async def cite_chain(state: State, turn: Turn, citations: Sequence[Citation]) -> tuple[str, list[Citation]]:
    """Return the line, and a citation for each value whose passage is not cited for it; nothing without a chain.

    An answer that cites nothing of what the further rounds found does not stand on the chain.
    """
    chain = state.get("chain") or NO_CHAIN
    of_chain = {*list_brought(chain, state["passages"]), *chain["leaves"]}
    if not chain["links"] or not any(citation["chunk_id"] in of_chain for citation in citations):
        return "", []
    # A person may have left out the passage of a value.
    kept = {leaf for passage in state["passages"] for leaf in passage["leaves"]}
    found = [link for link in chain["links"] if link["chunk_id"] in kept]
    chunks = await turn.chunks([link["chunk_id"] for link in found])
    # A passage that was changed or hidden since no longer shows its value.
    links = [link for link in found if link["chunk_id"] in chunks and _stands(link, chunks[link["chunk_id"]])]
    links = _select_used(links, chunks, [citation["quote"] for citation in citations])
    places = await (await turn.corpus()).places(
        [(chunks[link["chunk_id"]].doc_id, link["start"]) for link in links], turn.scope
    )
    marker, added = max(citation["marker"] for citation in citations), list[Citation]()
    shown: list[tuple[int, str]] = []
    for link, place in zip(links, places, strict=True):
        known = next((each for each in (*citations, *added) if _is_cited(link, chunks[link["chunk_id"]], each)), None)
        if known is None:
            marker += 1
            known = _make_citation(link, chunks[link["chunk_id"]], place, marker, links_files=turn.settings.file_links)
            added.append(known)
        shown.append((link["hop"], f"{link['value']} [{known['marker']}]"))
    steps = [", ".join(text for _, text in found) for _, found in groupby(shown, key=lambda each: each[0])]
    phrase = phrases_for(state["turn"]["question"], "english")["by_way_of"]
    return (f"{phrase}: {' → '.join(steps)}" if steps else ""), added


def _select_used(links: Sequence[Link], chunks: Mapping[str, Chunk], quotes: Sequence[str]) -> list[Link]:
    """Return the links that the quotes stand on: of two values of a round, the one that they or the next link name."""
    used: list[Link] = []
    named = list(quotes)
    for _, found in groupby(reversed(links), key=lambda link: link["hop"]):
        group = list(found)
        chosen = [link for link in group if any(link["value"] in text for text in named)] or group
        named = [chunks[link["chunk_id"]].text for link in chosen]
        used += chosen
    return used[::-1]


def _stands(link: Link, chunk: Chunk) -> bool:
    return " ".join(chunk.text[link["start"] - chunk.start : link["end"] - chunk.start].split()) == link["value"]


def _is_cited(link: Link, chunk: Chunk, citation: Citation) -> bool:
    """Tell whether the words of a citation are around the value; `chunk_id` may be that of a larger passage."""
    is_inside = citation["start"] <= link["start"] and link["end"] <= citation["end"]
    return is_inside and citation["source"] == chunk.source


def _make_citation(link: Link, chunk: Chunk, place: Place, marker: int, *, links_files: bool) -> Citation:
    """Return the citation of a value: the sentence that it stands in."""
    at = link["start"] - chunk.start
    begin, end = next(((a, b) for a, b in spans(chunk.text) if a <= at < b), (at, link["end"] - chunk.start))
    quote = chunk.text[begin:end].strip()
    begin += len(chunk.text[begin:end]) - len(chunk.text[begin:end].lstrip())
    start, path = chunk.start + begin, place.path or chunk.source
    page = chunk.page if place.page is None else place.page
    end = start + len(quote)
    return Citation(
        marker=marker,
        source=chunk.source,
        title=chunk.title,
        page=page,
        heading=place.heading or chunk.heading,
        chunk_id=chunk.chunk_id,
        claim=link["value"],
        quote=quote,
        start=start,
        end=end,
        grade="quoted",
        judged="",
        link=link_to(path, page=page, quote=quote, start=start, end=end) if links_files or is_url(path) else "",
    )
