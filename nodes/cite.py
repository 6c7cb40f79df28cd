"""Find for every claim of the draft where the passages say it, and mark those that are not confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.answer_check import JUDGED, JudgedClaims, judged, to_judge, with_quotes
from anabranch.agent.nodes.support.answer_messages import new_message_id, show
from anabranch.agent.nodes.support.dependencies import chunks_of, corpus_of, model_of, scope_of
from anabranch.agent.nodes.support.drafts import instructions, passages_of
from anabranch.agent.nodes.support.nearest_passages import nearest_passages
from anabranch.agent.nodes.support.passage_extracts import current_draft, shown_records
from anabranch.agent.nodes.support.state_records import (
    AnswerStatus,
    Citation,
    Degraded,
    Excerpt,
    UnconfirmedClaim,
    Verification,
)
from anabranch.agent.nodes.support.tracing import Update, failed, traced
from anabranch.agent.nodes.support.turn_budget import granted
from anabranch.citations.check_pool import check
from anabranch.citations.deep_links import link_to
from anabranch.citations.similarity import with_similar
from anabranch.citations.time_limit import TimeLimit
from anabranch.citations.verification import (
    CHECKED,
    Attribution,
    CheckedClaim,
    CitationRecord,
    Verified,
    attribute,
)
from anabranch.errors import ModelError
from anabranch.parsing.yes_or_no import Judgement
from anabranch.readers.document import Chunk
from anabranch.safety.prompt_leak import without_instructions
from anabranch.store.file_identity import is_url
from anabranch.store.protocol import Place


@traced("cite")
async def cite(state: State, context: Context) -> Update:
    """Attribute the draft; what is not confirmed is shown all the same, and says so."""
    if state["route"]["name"] == "compose":
        return await _as_shown(state, context)
    excerpts = {excerpt["number"]: excerpt for window in state["windows"] for excerpt in window}
    passages, found = await passages_of(context, state, list(excerpts.values()))
    # What the question or a passage says itself is no leak, however much it is like an instruction.
    given = (state["original_question"], state["standalone_question"], *(each.text for each in passages.values()))
    corpus = await corpus_of(context)

    def attributed(limit: TimeLimit) -> tuple[Attribution, int]:
        written, removed = without_instructions(state["draft"]["answer"], instructions(context), given)
        found = attribute(written, passages, state["standalone_question"], limit)
        return with_similar(found, corpus.embedder), removed

    attribution, removed = await check(attributed)
    attribution, judgements, degraded = await _checked_further(context, state, attribution)
    if removed:
        degraded.append(Degraded(step="cite", reason=_LEAKED.format(removed)))
    checked = await asyncio.to_thread(attribution.verified)
    if checked.unchecked:
        degraded.append(Degraded(step="cite", reason=_UNCHECKED.format(checked.unchecked, len(checked.claims))))
    citations = await _citations(context, state, checked.citations, excerpts, found, judgements)
    figures = _figures(checked, JUDGED[context.verify] if judgements else CHECKED)
    counts = {name: figures[name] for name in ("claims", "quoted", "found", "not_confirmed")}
    status = _status(context, checked, attribution)
    return {
        "status": status,
        **await _shown(context, state, status, checked),
        # What the model wrote, without links and instructions: whether it refused is read from it (`after_cite`).
        "draft": {**state["draft"], "answer": checked.answer},
        "citations": citations,
        "unconfirmed": _unconfirmed(checked),
        "verification": figures,
        "degraded": degraded,
        "counts": {**counts, "check": context.verify},
    }


def _status(context: Context, checked: Verified, attribution: Attribution) -> AnswerStatus:
    """Tell what became of the question; an answer that states nothing but a refusal did not find it."""
    if checked.citations:
        return "answered"
    refused = bool(attribution.found) and not checked.claims
    if refused or not checked.answer.strip() or context.strict:
        return "not_found"
    return "not_confirmed"


async def _shown(context: Context, state: State, status: AnswerStatus, checked: Verified) -> Update:
    """Return the answer as it is shown: one that is not confirmed says so first, and ends with what is nearest."""
    if status != "not_confirmed":
        return {"answer": checked.answer if status == "answered" else ""}
    nearest = await nearest_passages(context, state, checked.answer)
    answer = "\n\n".join(filter(None, (nearest.phrases["not_confirmed"], checked.answer, nearest.block)))
    message_id = new_message_id()  # what was streamed under the one of before does not say so
    show(message_id, answer)
    return {"answer": answer, "message_id": message_id}


def _unconfirmed(checked: Verified) -> list[UnconfirmedClaim]:
    return [
        UnconfirmedClaim(text=each.text[:MAX_TEXT], reason=each.reason, nearest=each.nearest)
        for each in checked.claims
        if each.grade == "not_confirmed"
    ][:MOST_LISTED]


async def _as_shown(state: State, context: Context) -> Update:
    """Cite the passages that are shown whole: they claim nothing but that they stand there."""
    draft = await current_draft(context, state)
    excerpts = dict(enumerate(draft.get("shown", []), start=1))
    found = await chunks_of(context, state, [each["id"] for each in excerpts.values()])
    records = shown_records(excerpts, found)
    claims = tuple(CheckedClaim(each.claim, each.grade, 1.0, marker=each.marker) for each in records)
    checked = Verified(draft["answer"], tuple(records), claims)
    figures = _figures(checked, SHOWN)
    return {
        # All that was found may be gone by now.
        "status": "answered" if records else "not_found",
        "answer": draft["answer"],
        "draft": draft,
        "citations": await _citations(context, state, records, excerpts, found, {}),
        "unconfirmed": [],
        "verification": figures,
        "counts": {"claims": len(claims), "quoted": len(claims), "found": 0, "not_confirmed": 0},
    }


async def _citations(
    context: Context,
    state: State,
    records: Sequence[CitationRecord],
    excerpts: Mapping[int, Excerpt],
    found: Mapping[str, Chunk],
    judged_as: Mapping[str, Judgement],
) -> list[Citation]:
    corpus = await corpus_of(context)
    # A passage may run over several pages and sections; the reader wants those of the quoted, or of the best, words.
    spots = [
        (found[r.chunk_id].doc_id, excerpts[r.number].get("best", excerpts[r.number]["start"] + r.start))
        for r in records
    ]
    places = await corpus.places(spots, scope_of(context, state.get("active_filters")))
    return [
        _citation(record, excerpts[record.number], found[record.chunk_id], place, judged_as, files=context.file_links)
        for record, place in zip(records, places, strict=True)
    ]


MOST_LISTED = 200
"""Claims that are listed as not confirmed; in an answer with more of them each has its [?] all the same."""

MAX_TEXT = 1_000
"""Characters of a claim that is listed as not confirmed; the answer has all of them."""

SHOWN = "quoted: the passages are shown as they stand; whether they answer was not checked"
_UNCHECKED = "{} of {} claims were not checked: they are too long, or no time was left for them"
_LEAKED = "{} sentences of the answer repeated the instructions to the model, and were left out"


async def _checked_further(
    context: Context, state: State, found: Attribution
) -> tuple[Attribution, Mapping[str, Judgement], list[Degraded]]:
    """Ask for quotes and judge claims if the settings say so; return what was judged by claim."""
    unplaced = await asyncio.to_thread(lambda: found.unplaced) if context.answer_form == "quoted" else []
    quoting, judging = bool(unplaced), context.verify != "words"
    if not (quoting or judging):
        return found, {}, []
    chat = await model_of(context)
    needed = quoting + (len(to_judge(found)) if context.verify == "llm" else 0) if chat is not None else 0
    calls = granted(context, state["trace"], needed)
    question = state["standalone_question"]
    try:
        if quoting and calls and chat is not None:
            calls -= 1
            found = await with_quotes(context, chat, found, question)
        if not judging:
            return found, {}, []
        result = await judged(context, chat, found, question, calls)
    except ModelError as error:
        return found, {}, [failed("cite", error)]
    return result.found, result.judgements, _unjudged(context, result)


def _unjudged(context: Context, result: JudgedClaims) -> list[Degraded]:
    """Return a warning where only some of the claims, or none, were judged."""
    if result.asked == result.whole:
        return []
    why = (
        f"was made of {result.asked} of {result.whole} claims: for the others no call was left, it failed, or the "
        "reply was neither yes nor no"
        if result.asked
        else "was not made: no model, or no call, is left for it, or no reply was a yes or a no"
    )
    return [Degraded(step="cite", reason=f"verify: {context.verify} {why}")]


def _figures(checked: Verified, said: str) -> Verification:
    grades = [claim.grade for claim in checked.claims]
    return Verification(
        claims=len(grades),
        quoted=grades.count("quoted"),
        found=grades.count("found"),
        not_confirmed=grades.count("not_confirmed"),
        checked=said if grades else "",  # of an answer that is not there nothing was checked
    )


def _citation(
    record: CitationRecord,
    excerpt: Excerpt,
    chunk: Chunk,
    place: Place,
    judged_as: Mapping[str, Judgement],
    *,
    files: bool,
) -> Citation:
    """Place the words in their document: spans count characters of the document's text."""
    # Passages of external retrievers have no place in the corpus, and chunks of a parent a page of their own.
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
        grade=record.grade,
        judged=judged_as.get(record.claim, ""),
        link=link_to(path, page=page, quote=record.quote, start=start, end=end) if files or is_url(path) else "",
    )
