"""Find for every claim of the draft where the passages say it, and mark those that nothing supports."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.answer_check import (
    JUDGED,
    after_judgement,
    calls_to_judge,
    judged,
    with_quotes,
)
from anabranch.agent.nodes.support.dependencies import corpus_of, model_of, scope_of
from anabranch.agent.nodes.support.drafts import instructions, passages_of
from anabranch.agent.nodes.support.state_records import Citation, Degraded, Excerpt, Verification
from anabranch.agent.nodes.support.tracing import Update, failed, traced
from anabranch.agent.nodes.support.turn_budget import granted
from anabranch.citations.check_pool import check
from anabranch.citations.deep_links import link_to
from anabranch.citations.similarity import with_similar
from anabranch.citations.time_limit import TimeLimit
from anabranch.citations.verification import (
    CHECKED,
    Attribution,
    CitationRecord,
    Verified,
    attribute,
    attribute_verbatim,
)
from anabranch.errors import ModelError
from anabranch.parsing.numbered_lines import Judgement
from anabranch.readers.document import Chunk
from anabranch.retrieval.answerability import WEAK
from anabranch.safety.prompt_leak import without_instructions
from anabranch.store.file_identity import is_url
from anabranch.store.protocol import Place
from anabranch.synthesis.verbatim_text import VERBATIM, WEAK_MATCH


@traced("cite")
async def cite(state: State, context: Context) -> Update:
    """Attribute the draft; if none of its claims is supported, the answer counts as not found."""
    excerpts = {excerpt["number"]: excerpt for window in state["windows"] for excerpt in window}
    passages, found = await passages_of(context, state, list(excerpts.values()))
    # What the question or a passage says itself is no leak, however much it is like an instruction.
    given = (state["original_question"], state["standalone_question"], *(each.text for each in passages.values()))
    written, removed = without_instructions(state["draft"]["answer"], instructions(context), given)
    corpus = await corpus_of(context)
    find = attribute_verbatim if state["route"]["name"] == "compose" else attribute

    def attributed(limit: TimeLimit) -> Attribution:
        return with_similar(find(written, passages, state["standalone_question"], limit), corpus.embedder)

    attribution = await check(attributed)
    attribution, judgements, degraded = await _checked_further(context, state, attribution)
    if removed:
        degraded.append(Degraded(step="cite", reason=_LEAKED.format(removed)))
    checked = await asyncio.to_thread(attribution.verified)
    if checked.unchecked:
        degraded.append(Degraded(step="cite", reason=_UNCHECKED.format(checked.unchecked, len(checked.claims))))
    spots = [(found[r.chunk_id].doc_id, excerpts[r.number]["start"] + r.start) for r in checked.citations]
    # A parent may run over several pages and sections; the reader wants those of the quoted words.
    places = await corpus.places(spots, scope_of(context, state.get("active_filters")))
    judged_as: dict[str, Judgement] = {claim: judgement for claim, _, judgement in judgements}
    citations = [
        _citation(record, excerpts[record.number], found[record.chunk_id], place, judged_as, files=context.file_links)
        for record, place in zip(checked.citations, places, strict=True)
    ]
    figures = _figures(checked, JUDGED[context.verify] if judgements else _checked(state), judgements)
    counts = {name: figures[name] for name in ("claims", "quoted", "supported", "unsupported")}
    return {
        "answer": checked.answer if citations else "",
        # What is left of an answer that nothing supports is shown as that, not as an answer.
        "draft": {**state["draft"], "answer": checked.answer},
        "citations": citations,
        "unsupported": list(checked.unsupported),
        "verification": figures,
        "degraded": degraded,
        "counts": {**counts, "check": context.verify},
    }


_UNCHECKED = "{} of {} claims were not checked: they are too long, or no time was left for them"
_LEAKED = "{} sentences of the answer repeated the instructions to the model, and were left out"


async def _checked_further(
    context: Context, state: State, found: Attribution
) -> tuple[Attribution, list[tuple[str, str, Judgement]], list[Degraded]]:
    """Ask for quotes and judge claims if the settings say so; return the judgements as (claim, words, judgement)."""
    unplaced = await asyncio.to_thread(lambda: found.unplaced) if context.answer_form == "quoted" else []
    quoting, judging = bool(unplaced), context.verify != "words"
    if not (quoting or judging):
        return found, [], []
    chat = await model_of(context)
    needed = quoting + calls_to_judge(context, chat, found) if chat is not None else 0
    calls = granted(context, state["trace"], needed)
    judgements: list[tuple[str, str, Judgement]] = []
    try:
        if quoting and calls and chat is not None:
            calls -= 1
            found = await with_quotes(context, chat, found, state["standalone_question"])
        if judging:
            results = await judged(context, chat, found, calls)
            by_place = dict(results)
            # Before the evidence is taken away: what contradicts a claim is shown to the reader.
            judgements = [(claim, words, by_place[at]) for at, claim, words in found.evidence if at in by_place]
            whole = len(found.evidence)
            found = after_judgement(found, results)
            if len(judgements) < whole:
                return found, judgements, [_unjudged(context, len(judgements), whole)]
    except ModelError as error:
        return found, [], [failed("cite", error)]
    return found, judgements, []


def _unjudged(context: Context, made: int, whole: int) -> Degraded:
    """Return a warning that only some of the claims, or none, were checked."""
    why = (
        f"was made of {made} of {whole} claims: for the others no room in the call or no call was left, or it failed"
        if made
        else "was not made: no model, or no call, is left for it"
    )
    return Degraded(step="cite", reason=f"verify: {context.verify} {why}")


def _checked(state: State) -> str:
    """Return what was checked, in words; of verbatim sentences it can only be said whether they match."""
    if state["route"]["name"] != "compose":
        return CHECKED
    said, missing = WEAK_MATCH if state["draft"].get("match", 1.0) < WEAK else VERBATIM, state["evidence"]["missing"]
    return f"{said}. Not in the passages found: {missing.rstrip('.')}" if missing else said


def _figures(checked: Verified, said: str, judgements: list[tuple[str, str, Judgement]]) -> Verification:
    grades = [claim.grade for claim in checked.claims]
    return Verification(
        claims=len(grades),
        quoted=grades.count("quoted"),
        supported=grades.count("supported"),
        unsupported=grades.count("unsupported"),
        missing=list(checked.missing),
        contradicted=[
            {"claim": claim, "quote": words} for claim, words, judgement in judgements if judgement == "contradicted"
        ],
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
