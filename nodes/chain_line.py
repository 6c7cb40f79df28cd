"""The line of an answer that names the values of its chain, each with the passage that it stands in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from anabranch.agent.nodes.citation_places import place_records
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.turn import Turn
from anabranch.citations.citation_record import CitationRecord
from anabranch.retrieval.query_chain import list_brought
from anabranch.text.phrases import phrases_for
from anabranch.text.sentences import spans
from anabranch.types import NO_CHAIN, Chunk, Citation, Excerpt, Link


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
    cited = [(each["source"], each["start"], each["end"], each["marker"]) for each in citations]
    marker = max(citation["marker"] for citation in citations)
    records: list[CitationRecord] = []
    excerpts: dict[int, Excerpt] = {}
    shown: list[tuple[int, str]] = []
    for link in links:
        chunk = chunks[link["chunk_id"]]
        # By place, because a citation may be of a larger passage.
        around = (
            number
            for source, start, end, number in cited
            if source == chunk.source and start <= link["start"] and link["end"] <= end
        )
        known = next(around, 0)
        if not known:
            known = marker = marker + 1
            record = _make_record(link, chunk, marker)
            records.append(record)
            excerpts[marker] = Excerpt(
                number=marker, id=chunk.chunk_id, start=chunk.start, end=chunk.end, best=link["start"]
            )
            cited.append((chunk.source, chunk.start + record.start, chunk.start + record.end, marker))
        shown.append((link["hop"], f"{link['value']} [{known}]"))
    steps = [", ".join(text for _, text in found) for _, found in groupby(shown, key=lambda each: each[0])]
    phrase = phrases_for(state["turn"]["question"])["by_way_of"]
    added = await place_records(turn, records, excerpts, chunks, {})
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


def _make_record(link: Link, chunk: Chunk, marker: int) -> CitationRecord:
    """Return the evidence of a value: the sentence that it stands in."""
    at = link["start"] - chunk.start
    begin, end = next(((a, b) for a, b in spans(chunk.text) if a <= at < b), (at, link["end"] - chunk.start))
    quote = chunk.text[begin:end].lstrip()
    begin, quote = end - len(quote), quote.rstrip()
    # Passages of windows have numbers of their own; this one is told apart by its marker.
    return CitationRecord(marker, marker, chunk.chunk_id, link["value"], "quoted", quote, begin, begin + len(quote))
