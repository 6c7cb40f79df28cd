"""Take the draft that was written ahead of time as the answer, where it stands on the evidence that was found."""

from __future__ import annotations

from langgraph.runtime import Runtime

from anabranch.replies import AnswerStream
from anabranch.speculation import Verdict, judge_draft, merged_quotes, renumbered
from graph.context import Context, settle
from graph.state import Draft, Speculation, State
from nodes.ahead import no_draft
from nodes.shown import shown_of
from nodes.traced import Update, traced
from nodes.writing import instructions, new_message_id, show, window_text


@traced("adopt")
async def adopt(state: State, runtime: Runtime[Context]) -> Update:
    """Keep the draft, with the numbers that its passages have now, and show it; or leave the answer to be written."""
    context = settle(state.get("settings"), runtime)
    verdict = await _verdict(context, state)
    # Either way it has served.
    update: Update = {"speculation": no_draft(verdict.why)}
    counts = {"kept": not verdict.why, "share": round(verdict.share, 3)}
    if verdict.why:
        return {**update, "counts": {**counts, "why": verdict.why}}
    draft, message_id = _renumbered(state["speculation"], verdict), new_message_id()
    passages = await window_text(context, state, state["windows"][0])
    stream = AnswerStream(told=instructions(context), given=[passages, state["standalone"]])
    show(message_id, stream.feed(draft["answer"]) + stream.finish())
    return {**update, "draft": draft, "message_id": message_id, "counts": counts}


async def _verdict(context: Context, state: State) -> Verdict:
    windows, draft = state["windows"], state["speculation"]["draft"]
    if len(windows) != 1 or state["route"]["name"] != "create":
        return Verdict(f"the evidence takes {len(windows)} windows, by {state['route']['name']}", 0.0)
    read = await shown_of(context, state, state["speculation"]["excerpts"])
    final = await shown_of(context, state, windows[0], state["passages"])
    return judge_draft(draft["answer"], _quotes(draft), read, final)


def _renumbered(speculation: Speculation, verdict: Verdict) -> Draft:
    draft = speculation["draft"]
    quotes = merged_quotes(_quotes(draft), verdict.numbers)
    return {
        **draft,
        "answer": renumbered(draft["answer"], verdict.numbers),
        "quotes": {str(number): words for number, words in quotes.items()},
    }


def _quotes(draft: Draft) -> dict[int, list[str]]:
    return {int(number): words for number, words in draft["quotes"].items() if number.isdigit()}
