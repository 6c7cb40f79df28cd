"""Make citations of the words that were found: each with its place in its document, as a reader would look for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

from anabranch.agent.nodes.turn import Turn
from anabranch.citations.deep_links import link_to
from anabranch.store.file_identity import is_url
from anabranch.types import Citation, Excerpt, Judgement

if TYPE_CHECKING:
    from anabranch.citations.citation_record import CitationRecord
    from anabranch.store.protocol import Place
    from anabranch.types import Chunk


async def place_records(
    turn: Turn,
    records: Sequence[CitationRecord],
    excerpts: Mapping[int, Excerpt],
    chunks: Mapping[str, Chunk],
    judgements: Mapping[str, Judgement],
) -> list[Citation]:
    """Return the citations of the records, each with its place in its document."""
    corpus = await turn.corpus()
    # A passage may span several pages and sections; the reader wants those of the quoted or best words.
    spots = [
        (chunks[r.chunk_id].doc_id, excerpts[r.number].get("best", excerpts[r.number]["start"] + r.start))
        for r in records
    ]
    places = await corpus.places(spots, turn.scope)
    links = turn.settings.file_links
    return [
        _make_citation(record, excerpts[record.number], chunks[record.chunk_id], place, judgements, links_files=links)
        for record, place in zip(records, places, strict=True)
    ]


def _make_citation(
    record: CitationRecord,
    excerpt: Excerpt,
    chunk: Chunk,
    place: Place,
    judgements: Mapping[str, Judgement],
    *,
    links_files: bool,
) -> Citation:
    """Return a citation, whose span counts characters of the document's text."""
    # Passages of external retrievers have no place in the corpus.
    path = place.path or chunk.source
    page = chunk.page if place.page is None else place.page
    start, end = excerpt["start"] + record.start, excerpt["start"] + record.end
    return Citation(
        marker=record.marker,
        source=chunk.source,
        title=chunk.title,
        page=page,
        heading=place.heading or chunk.heading,
        chunk_id=chunk.chunk_id,
        claim=record.claim,
        quote=record.quote,
        start=start,
        end=end,
        grade=cast('Literal["quoted", "found"]', record.grade),
        judged=judgements.get(record.claim, ""),
        link=link_to(path, page=page, quote=record.quote, start=start, end=end) if links_files or is_url(path) else "",
    )
