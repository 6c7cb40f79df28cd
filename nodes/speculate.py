"""Draft an answer from what the question alone finds, while a model writes further queries; `adopt` decides on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from langgraph.runtime import Runtime

from anabranch.models.metering import count_call, metered
from anabranch.speculation import SAME, share_read
from graph.context import Context, settle
from graph.state import Draft, Evidence, Query, Speculation, State, Step
from nodes.ahead import further_queries, no_draft
from nodes.resources import model_of
from nodes.shown import shown_of
from nodes.spending import left_of
from nodes.traced import Update, traced
from nodes.writing import draft_of, window_text

Find = Callable[[State, Context], Awaitable[State]]


@traced("speculate")
async def speculate(state: State, runtime: Runtime[Context], *, find: Find) -> Update:
    """Write a draft that nobody sees yet; whatever goes wrong, there is no draft and the turn goes on without.

    Args:
        state: With the question, and the queries that there are without a model.
        runtime: Of this run.
        find: Searches, and returns the state with the evidence for its queries.
    """
    context = settle(state.get("settings"), runtime)
    further = further_queries(runtime)
    # What fails in here takes nothing from the answer, so it is no step that could not do its best.
    with metered() as meter:
        try:
            speculation = await _speculation(context, state, find, further)
        except Exception as error:  # noqa: BLE001  # the way without a draft meets what is wrong, and says so
            speculation = no_draft(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
    if meter.calls:
        count_call(meter.prompt_tokens, meter.output_tokens)
    if meter.failures and not speculation["why"]:
        speculation = no_draft(meter.failures[0])
    why = speculation["why"]
    return {"speculation": speculation, "counts": {"draft": not why, **({"why": why} if why else {})}}


async def _speculation(context: Context, state: State, find: Find, further: asyncio.Future[list[Query]]) -> Speculation:
    """Draft; give it up at once where the further queries find other evidence: the next steps wait for this branch."""
    found = await find(_ahead(context, state, state["queries"]), context)
    if why := _unfit(found):
        return no_draft(f"with the question alone, {why}")
    writing = asyncio.create_task(_drafted(context, found))
    try:
        first: list[asyncio.Future[Any]] = [writing, further]
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if not writing.done():
            final = await find(_ahead(context, state, further.result()), context)
            if why := _unfit(final) or await _overtaken(context, found, final):
                return no_draft(f"with the further queries, {why}")
        draft = await writing
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    if not draft["found"]:
        return no_draft("the draft says that the answer was not found")
    return Speculation(draft=draft, excerpts=found["windows"][0], why="")


def _ahead(context: Context, state: State, queries: Sequence[Query]) -> State:
    """Return the state that the search begins with; all calls but the draft's own count as spent."""
    spent = int(left_of(context, state["trace"]).calls) - 1
    step = Step(node="speculate", round=-1, ms=0.0, calls=spent, prompt_tokens=0, output_tokens=0, counts={})
    ahead = {
        "settings": {},
        "asked": state["asked"],
        "standalone": state["standalone"],
        "narrowed": state.get("narrowed"),
        "queries": list(queries),
        "round": 1,
        "evidence": Evidence(verdict="", reasons=[], missing="", digest="", unchanged=False),
        "windows": [],
        "trace": [*state["trace"], step],
    }
    return cast("State", ahead)


def _unfit(found: State) -> str:
    """Say why no answer is written from this evidence in one call; empty where one is."""
    if not found["windows"]:
        return f"the evidence is judged {found['evidence']['verdict']!r}"
    # One call is all that is left: what does not fit its window is left out, and `pack` says so.
    left_out = any(item["step"] == "pack" for item in found["degraded"])
    whole = len(found["windows"]) == 1 and found["route"]["name"] == "create" and not left_out
    return "" if whole else "the evidence takes more than one window"


async def _drafted(context: Context, found: State) -> Draft:
    chat = await model_of(context)
    if chat is None:
        msg = "no chat model is configured"
        raise ValueError(msg)
    user = f"{await window_text(context, found, found['windows'][0])}\n\nQuestion: {found['standalone']}"
    reply = await chat.ask(context.create_prompt, user, max_tokens=context.answer_tokens)
    return draft_of(reply, window=1, told=(context.create_prompt, found["standalone"]))


async def _overtaken(context: Context, found: State, final: State) -> str:
    """Say how much of the evidence the draft does not read, where it is too much; `adopt` looks closer."""
    read = await shown_of(context, found, found["windows"][0])
    share = share_read(await shown_of(context, final, final["windows"][0], final["passages"]), read)
    return f"the draft reads {share:.2f} of the evidence; {SAME:g} is the least" if share < SAME else ""
