"""Check every claim against its passage: quotes found verbatim, repaired, or the claim marked unsupported."""

from __future__ import annotations

from langgraph.runtime import Runtime

from anabranch.citations import CitationRecord, PassageText, verify
from anabranch.corpus.document import Chunk
from anabranch.corpus.store import Place
from graph.context import Context, settle
from graph.state import Citation, Excerpt, State
from nodes.resources import chunks_of, corpus_of, scope_of
from nodes.traced import Update, traced
from nodes.writing import piece_of


@traced("cite")
async def cite(state: State, runtime: Runtime[Context]) -> Update:
    """Verify the draft; an answer of which no claim holds counts as not found."""
    context = settle(state.get("settings"), runtime)
    draft = state["draft"]
    if not draft["found"]:
        return {"answer": "", "counts": {"found": False}}
    excerpts = {excerpt["number"]: excerpt for window in state["windows"] for excerpt in window}
    found = await chunks_of(context, state, [excerpt["id"] for excerpt in excerpts.values()])
    passages = {
        number: PassageText(id=excerpt["id"], text=piece_of(found[excerpt["id"]], excerpt))
        for number, excerpt in excerpts.items()
        if excerpt["id"] in found
    }
    quotes = {int(number): words for number, words in draft["quotes"].items() if number.isdigit()}
    checked = verify(draft["answer"], quotes, passages)
    corpus = await corpus_of(context)
    spots = [(found[r.chunk_id].doc_id, excerpts[r.number]["start"] + r.start) for r in checked.citations]
    # A parent may run over several pages and sections; the reader wants those of the quoted words.
    places = await corpus.places(spots, scope_of(context, state.get("narrowed")))
    citations = [
        _citation(record, excerpts[record.number], found[record.chunk_id], place)
        for record, place in zip(checked.citations, places, strict=True)
    ]
    holds = any(citation["verified"] for citation in citations)
    return {
        "answer": checked.answer if holds else "",
        "citations": citations if holds else [],
        "unsupported": list(checked.unsupported),
        "counts": {
            "claims": checked.claims,
            "cited": len(citations),
            "repaired": sum(citation["repaired"] for citation in citations),
            "unsupported": len(checked.unsupported),
            "coverage": round(checked.coverage, 3),
            "precision": round(checked.precision, 3),
        },
    }


def _citation(record: CitationRecord, excerpt: Excerpt, chunk: Chunk, place: Place) -> Citation:
    """Place a verified quote in its document: spans count characters of the document's text."""
    return Citation(
        marker=record.marker,
        source=chunk.source,
        title=chunk.title,
        page=chunk.page if place.page is None else place.page,
        heading=place.heading or chunk.heading,
        chunk_id=chunk.chunk_id,
        claim=record.claim,
        quote=record.quote,
        start=excerpt["start"] + record.start,
        end=excerpt["start"] + record.end,
        verified=record.verified,
        repaired=record.repaired,
    )
