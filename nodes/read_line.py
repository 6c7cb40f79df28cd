"""End an answer from whole documents with the line that says how much was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.agent.nodes.state import State, Update
from anabranch.synthesis.coverage import count_read, describe_coverage
from anabranch.text.language import language_of
from anabranch.text.phrases import phrases_for

if TYPE_CHECKING:
    from anabranch.agent.nodes.turn import Turn
    from anabranch.types import Coverage

MOST_READ = 4_000
"""Characters of an answer that tell its language."""


async def end_coverage(state: State, turn: Turn, update: Update) -> Update:
    """Return the coverage with what was read, and the answer with its line; without an answer, `abstain` says it."""
    coverage: Coverage = state["coverage"]
    if state["route"]["name"] not in ("map_reduce", "rows"):
        ids = [each["id"] for each in state["passages"]]
        gone = {*ids} - (await turn.chunks(ids)).keys()
        # Without `gather`, all windows were read at once; a program reads all of them where no model does.
        coverage = count_read(coverage, state["passages"], state["windows"], removed=gone)
    turn.count(read=coverage["read"], leaves=coverage["leaves"])
    answer = update["answer"]
    if not answer:
        return {"coverage": coverage}
    question = state["turn"]["question"]
    line = describe_coverage(coverage, phrases_for(question, language_of(answer[:MOST_READ])))
    message_id = update["draft"].get("message_id", "")
    if message_id:  # the reader has the answer already
        turn.show_answer(message_id, f"\n\n{line}")
    return {"coverage": coverage, "answer": f"{answer}\n\n{line}"}
