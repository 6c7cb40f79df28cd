"""Find the evidence for every claim of the draft, and mark the claims that are not confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from anabranch.agent.nodes.chain_line import cite_chain
from anabranch.agent.nodes.citation_places import place_records
from anabranch.agent.nodes.compose import current_draft, find_nearest_passages
from anabranch.agent.nodes.read_line import end_coverage
from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.nodes.writing import instructions, new_message_id, read_passages
from anabranch.errors import ModelError
from anabranch.safety.prompt_leak import without_instructions
from anabranch.synthesis.coverage import is_whole
from anabranch.types import AnswerCheck, AnswerStatus, Draft, Judgement, UnconfirmedClaim

if TYPE_CHECKING:
    # The claim check is imported when the first answer is checked.
    from anabranch.agent.nodes.claim_judge import JudgedClaims
    from anabranch.citations.time_limit import TimeLimit
    from anabranch.citations.verification import Attribution, Verified


async def cite(state: State, turn: Turn) -> Update:
    """Attribute the draft; claims that are not confirmed stay in the answer, marked."""
    route = state["route"]["name"]
    if route == "compose":
        update = await _cite_passages(state, turn)
    elif route == "rows":
        from anabranch.agent.nodes.row_table import cite_rows

        update = await cite_rows(state, turn)
    else:
        update = await _cite_draft(state, turn)
    return {**update, **await end_coverage(state, turn, update)} if is_whole(state.get("coverage")) else update


async def _cite_draft(state: State, turn: Turn) -> Update:
    """Attribute what the model wrote."""
    from anabranch.citations.check_pool import check
    from anabranch.citations.verification import CHECKED, attribute

    excerpts = {excerpt["number"]: excerpt for window in state["windows"] for excerpt in window}
    passages, chunks = await read_passages(turn, list(excerpts.values()))
    # Words of the question or a passage are no leak, even if an instruction has them too.
    question = state["turn"]["standalone_question"]
    given = (state["turn"]["question"], question, *(each.text for each in passages.values()))

    def attribute_draft(limit: TimeLimit) -> tuple[Attribution, Verified, int]:
        written, removed = without_instructions(state["draft"]["answer"], instructions(turn.settings), given)
        found = attribute(written, passages, question, limit)
        return found, found.set_markers(), removed

    found, checked, removed = await check(attribute_draft)
    attribution, judgements, explanation = await _check_further(state, turn, found)
    if removed:
        turn.degraded("cite", _LEAKED.format(removed))
    if attribution is not found:
        checked = await asyncio.to_thread(attribution.set_markers)
    if checked.unchecked:
        turn.degraded("cite", _UNCHECKED.format(checked.unchecked, len(checked.claims)))
    status = _find_status(checked, attribution, is_strict=turn.settings.strict)
    record = make_check(status, [each.grade for each in checked.claims], explanation or CHECKED)
    turn.count(**count_grades(record), check=turn.settings.verify)
    # The model's text without links and instructions: `after_cite` reads from it whether the model refused.
    draft: Draft = {**state["draft"], "answer": checked.answer}
    citations = await place_records(turn, checked.citations, excerpts, chunks, judgements)
    line, of_chain = await cite_chain(state, turn, citations) if status == "answered" else ("", [])
    return {
        **await _show(state, turn, status, draft, line),
        "claims": [*citations, *of_chain, *_list_unconfirmed(checked)],
        "check": record,
    }


def _find_status(checked: Verified, attribution: Attribution, *, is_strict: bool) -> AnswerStatus:
    """Return the status of the answer; an answer that is only a refusal is `not_found`."""
    if checked.citations:
        return "answered"
    is_refusal = bool(attribution.found) and not checked.claims
    if is_refusal or not checked.answer.strip() or is_strict:
        return "not_found"
    return "not_confirmed"


async def _show(state: State, turn: Turn, status: AnswerStatus, draft: Draft, line: str) -> Update:
    """Return the answer for the reader; an unconfirmed one says so first, and ends with the nearest passages."""
    if status == "answered" and line:
        if message_id := draft.get("message_id", ""):  # the reader has the answer already
            turn.show_answer(message_id, f"\n\n{line}")
        return {"answer": f"{draft['answer']}\n\n{line}", "draft": draft}
    if status != "not_confirmed":
        return {"answer": draft["answer"] if status == "answered" else "", "draft": draft}
    nearest = await find_nearest_passages(state, turn, draft["answer"])
    answer = "\n\n".join(filter(None, (nearest.phrases["not_confirmed"], draft["answer"], nearest.block)))
    message_id = new_message_id()  # the text streamed under the previous id does not say so
    turn.show_answer(message_id, answer)
    return {"answer": answer, "draft": {**draft, "message_id": message_id}}


def _list_unconfirmed(checked: Verified) -> list[UnconfirmedClaim]:
    return [
        UnconfirmedClaim(grade="not_confirmed", text=each.text[:MAX_TEXT], reason=each.reason, nearest=each.nearest)
        for each in checked.claims
        if each.grade == "not_confirmed"
    ][:MOST_LISTED]


async def _cite_passages(state: State, turn: Turn) -> Update:
    """Cite the passages that are shown whole: they are their own evidence."""
    from anabranch.extracts.composition import list_records

    draft = await current_draft(state, turn)
    excerpts = dict(enumerate(draft.get("shown", []), start=1))
    chunks = await turn.chunks([each["id"] for each in excerpts.values()])
    records = list_records(excerpts, chunks)
    # All passages may have been removed since the search.
    status: AnswerStatus = "answered" if records else "not_found"
    record = make_check(status, [each.grade for each in records], SHOWN)
    turn.count(**count_grades(record))
    citations = await place_records(turn, records, excerpts, chunks, {})
    return {"answer": draft["answer"], "draft": draft, "claims": citations, "check": record}


MOST_LISTED = 200
"""Most claims that are listed as not confirmed; the others have their [?] in the answer."""

MAX_TEXT = 1_000
"""Most characters of a claim that is listed as not confirmed."""

SHOWN = "quoted: the passages are shown word for word; whether they answer the question was not checked"
_UNCHECKED = "{} of {} claims were not checked: they are too long, or no time was left for them"
_LEAKED = "{} sentences of the answer repeated the instructions to the model and were left out"


async def _check_further(
    state: State, turn: Turn, found: Attribution
) -> tuple[Attribution, Mapping[str, Judgement], str]:
    """Ask for quotes and judge claims if the settings say so.

    Returns:
        The claims, the judgements by claim, and a description of the check, empty if nothing was judged.
    """
    settings = turn.settings
    unplaced = await asyncio.to_thread(lambda: found.unplaced) if settings.answer_form == "quoted" else []
    quotes, judges = bool(unplaced), settings.verify != "words"
    if not (quotes or judges):
        return found, {}, ""
    from anabranch.agent.nodes.claim_judge import JUDGED, ask_for_quotes, judge_claims, list_judgeable

    chat = await turn.chat()
    needed = quotes + (len(list_judgeable(found)) if settings.verify == "llm" else 0) if chat is not None else 0
    calls = turn.budget.grant(needed)
    question = state["turn"]["standalone_question"]
    try:
        if quotes and calls and chat is not None:
            calls -= 1
            found = await ask_for_quotes(turn, chat, found, question)
        if not judges:
            return found, {}, ""
        result = await judge_claims(turn, chat, found, question, calls)
    except ModelError as error:
        turn.degraded("cite", error)
        return found, {}, ""
    _warn_of_unjudged(turn, result)
    return result.found, result.judgements, JUDGED[settings.verify] if result.judgements else ""


def _warn_of_unjudged(turn: Turn, result: JudgedClaims) -> None:
    """Report it if not all claims were judged."""
    if result.asked == result.whole:
        return
    why = (
        f"was made of {result.asked} of {result.whole} claims: for the others no call was left, it failed, or the "
        "reply was neither yes nor no"
        if result.asked
        else "was not made: there was no model, no call was left for it, or no reply was a yes or a no"
    )
    turn.degraded("cite", f"verify: {turn.settings.verify} {why}")


def make_check(status: AnswerStatus, grades: Sequence[str], explanation: str) -> AnswerCheck:
    """Return the check of an answer whose claims have some grades; `explanation` says what was compared."""
    return AnswerCheck(
        status=status,
        claims=len(grades),
        quoted=grades.count("quoted"),
        found=grades.count("found"),
        not_confirmed=grades.count("not_confirmed"),
        checked=explanation if grades else "",  # without an answer, nothing was checked
    )


def count_grades(record: AnswerCheck) -> dict[str, int]:
    """Return how many claims have which grade, for the trace."""
    return {name: record[name] for name in ("claims", "quoted", "found", "not_confirmed")}
