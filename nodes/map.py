"""Answer from one window: one branch per window, all at the same time."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NotRequired

# Not typing's: before Python 3.12 pydantic cannot make a schema of that one.
from typing_extensions import TypedDict

from anabranch.agent.nodes.state import Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.nodes.writing import measure_support, read_passages, skip_window, wrap_window, write_from_window
from anabranch.errors import ModelError
from anabranch.synthesis.budget import hold_repeats
from anabranch.types import Draft, Excerpt, Left, Partial, TurnRecord

if TYPE_CHECKING:
    from anabranch.models.chat import Chat


_NO_LIST = "the reply is neither rows nor the word for no hit"


class MapTask(TypedDict):
    """Input of one map branch; `budget` limits repeated calls for its window."""

    turn: TurnRecord
    index: int
    excerpts: list[Excerpt]
    external_passages: dict[str, dict[str, Any]]
    budget: NotRequired[Left]
    rows: NotRequired[bool]


async def map_window(state: MapTask, turn: Turn) -> Update:
    """Answer from one window, and measure how well its passages support the answer, to compare the partial answers."""
    chat = await turn.chat()
    if chat is None:  # the model was taken away between a pause and its resumption
        return {"partials": []}
    hold_repeats(turn.budget.left)
    index, question = state["index"], state["turn"]["standalone_question"]
    turn.count(window=index + 1)
    if state.get("rows"):
        return await _list_hits(state, turn, chat)
    passages = await wrap_window(turn, state["excerpts"])
    if not passages:
        skip_window(turn, index + 1)
        return {"partials": []}
    compared, chunks = await read_passages(turn, state["excerpts"])
    from anabranch.citations.check_pool import read_meanwhile

    try:
        # Only the branch of the first window, which has the best passages, shows them.
        async with read_meanwhile(compared.values()), nullcontext() if index else turn.awaiting_model():
            draft = await write_from_window(turn, chat, passages, question, window=index + 1)
    except ModelError as error:
        turn.degraded(f"map:{index + 1}", error)
        return {"partials": []}
    # Scored here, because the step that compares the answers does not read the passages.
    support = await measure_support(draft["answer"], compared, question)
    partial = Partial(level=0, index=index, draft=draft, group=None, score=round(support, 3))
    if gone := [excerpt["id"] for excerpt in state["excerpts"] if excerpt["id"] not in chunks]:
        partial["unread"] = gone
    turn.count(score=partial["score"])
    return {"partials": [partial]}


async def _list_hits(state: MapTask, turn: Turn, chat: Chat) -> Update:
    """Return the lines of the hits of one window; the program checks and counts them when all windows are read."""
    from anabranch.agent.nodes.row_calls import list_hits

    index = state["index"]
    try:
        listed = await list_hits(turn, chat, state["excerpts"], state["turn"]["standalone_question"])
    except ModelError as error:
        turn.degraded(f"map:{index + 1}", error)
        return {"partials": []}
    if listed.failed:
        turn.degraded(f"map:{index + 1}", _NO_LIST)
        if not listed.lines:
            return {"partials": []}
    draft = Draft(answer=listed.lines, window=index + 1, keeps=0)
    partial = Partial(level=0, index=index, draft=draft, group=None, score=1.0, unread=listed.unread)
    if listed.failed:
        partial["failed"] = listed.failed
    return {"partials": [partial]}
