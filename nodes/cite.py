"""Check every claim against its passage: quotes found verbatim, repaired, or the claim marked unsupported."""

from __future__ import annotations

import asyncio

from anabranch.citations.deep_links import link_to
from anabranch.citations.evidence_span import PassageText
from anabranch.citations.verification import CHECKED, CitationRecord, Verified, verify
from anabranch.readers.document import Chunk
from anabranch.safety.prompt_leak import without_instructions
from anabranch.store.file_identity import is_url
from anabranch.store.protocol import Place
from nodes.settings import Context
from nodes.state import State
from nodes.support.dependencies import chunks_of, corpus_of, scope_of
from nodes.support.drafts import instructions, piece_of
from nodes.support.state_records import Citation, Degraded, Draft, Excerpt, Verification
from nodes.support.tracing import Update, traced


@traced("cite")
async def cite(state: State, context: Context) -> Update:
    """Verify the draft; an answer of which no claim holds counts as not found."""
    draft = state["draft"]
    if not draft["found"]:
        # What the model says is missing will be read as well.
        missing, _ = without_instructions(draft["missing"], instructions(context), [state["original_question"]])
        return {"answer": "", "draft": {**draft, "missing": missing}, "counts": {"found": False}}
    excerpts = {excerpt["number"]: excerpt for window in state["windows"] for excerpt in window}
    found = await chunks_of(context, state, [excerpt["id"] for excerpt in excerpts.values()])
    passages = {
        number: _passage(found[excerpt["id"]], excerpt)
        for number, excerpt in excerpts.items()
        if excerpt["id"] in found
    }
    checked, removed = await asyncio.to_thread(_checked, context, state, draft, passages)
    corpus = await corpus_of(context)
    spots = [(found[r.chunk_id].doc_id, excerpts[r.number]["start"] + r.start) for r in checked.citations]
    # A parent may run over several pages and sections; the reader wants those of the quoted words.
    places = await corpus.places(spots, scope_of(context, state.get("active_filters")))
    citations = [
        _citation(record, excerpts[record.number], found[record.chunk_id], place, files=context.file_links)
        for record, place in zip(checked.citations, places, strict=True)
    ]
    figures = _figures(checked)
    return {
        "answer": checked.answer if citations else "",
        "citations": citations,
        "unsupported": list(checked.unsupported),
        "verification": figures,
        "degraded": [Degraded(step="cite", reason=_LEAKED.format(removed))] if removed else [],
        "counts": {
            "claims": figures["claims"],
            "cited": figures["citations"],
            "repaired": figures["repaired"],
            "unsupported": len(checked.unsupported),
            "coverage": figures["coverage"],
            "precision": figures["precision"],
        },
    }


_LEAKED = "{} sentences of the answer repeated the instructions to the model, and were left out"


def _passage(chunk: Chunk, excerpt: Excerpt) -> PassageText:
    """Return what the window showed of a passage, and what says what it is about."""
    label = "\n".join(dict.fromkeys(part for part in (chunk.title, chunk.heading, chunk.source) if part))
    return PassageText(id=excerpt["id"], text=piece_of(chunk, excerpt), label=label)


def _checked(context: Context, state: State, draft: Draft, passages: dict[int, PassageText]) -> tuple[Verified, int]:
    """Verify a draft without what it repeats of the instructions; return how many sentences that were."""
    given = (state["original_question"], state["standalone_question"], *(passage.text for passage in passages.values()))
    answer, removed = without_instructions(draft["answer"], instructions(context), given)
    quotes = {int(number): words for number, words in draft["quotes"].items() if number.isdigit()}
    return verify(answer, quotes, passages, f"{state['original_question']}\n{state['standalone_question']}"), removed


def _figures(checked: Verified) -> Verification:
    return Verification(
        claims=checked.claims,
        supported=checked.claims - len(checked.unsupported),
        citations=len(checked.citations),
        repaired=sum(record.repaired for record in checked.citations),
        coverage=round(checked.coverage, 3),
        precision=round(checked.precision, 3),
        checked=CHECKED,
    )


def _citation(record: CitationRecord, excerpt: Excerpt, chunk: Chunk, place: Place, *, files: bool) -> Citation:
    """Place a verified quote in its document: spans count characters of the document's text."""
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
        verified=record.verified,
        repaired=record.repaired,
        link=link_to(path, page=page, quote=record.quote, start=start, end=end) if files or is_url(path) else "",
    )
