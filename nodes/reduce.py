"""Join partial answers, `fan_in` at a time: one level of the tree per step."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from anabranch.envelope import new_nonce, wrap
from anabranch.errors import ModelError
from anabranch.models.chat import Chat
from graph.context import Context, settle
from graph.state import Degraded, Draft, Partial, State
from nodes.composed import composed_draft
from nodes.resources import model_of
from nodes.traced import Update, traced
from nodes.writing import draft_of, new_message_id, write_live


@traced("reduce")
async def reduce(state: State, runtime: Runtime[Context]) -> Update:
    """Reduce one level, all groups in parallel; the last group's answer is streamed to the reader."""
    context = settle(state.get("settings"), runtime)
    level = max((partial["level"] for partial in state["partials"]), default=0)
    parts = [partial for partial in state["partials"] if partial["level"] == level and partial["draft"]["found"]]
    parts.sort(key=lambda partial: partial["index"])
    chat = await model_of(context)
    message_id = state.get("message_id") or new_message_id()
    if len(parts) <= 1 or chat is None:
        draft, degraded = await _only(context, state, parts)
        return {
            "draft": draft,
            "degraded": degraded,
            "message_id": message_id,
            "partials": Overwrite([]),
            "counts": {"level": level, "parts": len(parts)},
        }
    groups = [parts[start : start + context.fan_in] for start in range(0, len(parts), context.fan_in)]
    drafts, degraded = await _joined(context, chat, state, groups, message_id)
    joined = [Partial(level=level + 1, index=index, draft=draft) for index, draft in enumerate(drafts)]
    last = len(joined) == 1
    return {
        "partials": Overwrite([] if last else joined),
        **({"draft": joined[0]["draft"]} if last else {}),
        "message_id": message_id,
        "degraded": degraded,
        "counts": {"level": level + 1, "parts": len(parts), "groups": len(groups)},
    }


async def _only(context: Context, state: State, parts: Sequence[Partial]) -> tuple[Draft, list[Degraded]]:
    """Take the only partial answer as it is; without any, say what is missing, or compose if the model failed."""
    if parts:
        return parts[0]["draft"], []
    if not state["partials"]:
        reason = "no window could be read by the model; the answer is verbatim sentences"
        return await composed_draft(context, state), [Degraded(step="map", reason=reason)]
    missing = next((p["draft"]["missing"] for p in state["partials"] if p["draft"]["missing"]), "")
    return {**state["draft"], "found": False, "missing": missing}, []


async def _joined(
    context: Context, chat: Chat, state: State, groups: Sequence[Sequence[Partial]], message_id: str
) -> tuple[list[Draft], list[Degraded]]:
    gate = asyncio.Semaphore(context.max_concurrency)
    degraded: list[Degraded] = []

    async def join(group: Sequence[Partial]) -> Draft:
        if len(group) == 1:
            return group[0]["draft"]
        answers = [(number, "partial answer", part["draft"]["answer"]) for number, part in enumerate(group, start=1)]
        user = f"{wrap(answers, new_nonce())}\n\nQuestion: {state['standalone']}"
        async with gate:
            try:
                if len(groups) == 1:
                    reply = await write_live(
                        chat, context.reduce_prompt, user, max_tokens=context.answer_tokens, message_id=message_id
                    )
                else:
                    reply = await chat.ask(context.reduce_prompt, user, max_tokens=context.answer_tokens)
            except ModelError as error:
                degraded.append(Degraded(step="reduce", reason=error.message))
                return _side_by_side(group)
        return _with_quotes(draft_of(reply, window=len(state["windows"])), group)

    return list(await asyncio.gather(*(join(group) for group in groups))), degraded


def _with_quotes(draft: Draft, group: Sequence[Partial]) -> Draft:
    """Give a joined answer the quotes of its parts; NOT FOUND over parts that found something is refused."""
    if not draft["found"]:
        return _side_by_side(group)
    return {**draft, "quotes": _quotes(group)}


def _side_by_side(group: Sequence[Partial]) -> Draft:
    first = group[0]["draft"]
    return {**first, "answer": "\n\n".join(part["draft"]["answer"] for part in group), "quotes": _quotes(group)}


def _quotes(group: Sequence[Partial]) -> dict[str, list[str]]:
    quotes: dict[str, list[str]] = {}
    for part in group:
        for number, words in part["draft"]["quotes"].items():
            quotes.setdefault(number, []).extend(words)
    return quotes
