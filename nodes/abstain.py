"""Say that the documents do not hold the answer: what was searched for, what is missing, which passages are nearest."""

from __future__ import annotations

from anabranch.agent.nodes.compose import find_nearest_passages
from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.nodes.writing import new_message_id
from anabranch.retrieval.question_words import list_queries
from anabranch.safety.link_removal import make_plain
from anabranch.synthesis.coverage import describe_coverage, is_whole


async def abstain(state: State, turn: Turn) -> Update:
    """Write that nothing was found; nothing in it is an answer."""
    nearest = await find_nearest_passages(state, turn)
    words = nearest.phrases
    coverage = state.get("coverage")
    if coverage and coverage["stopped"]:
        return _end(turn, state, f"{words['unstarted']}: {coverage['stopped']}.")
    lines = [words["not_found"]]
    # A model may have written the queries, and a link in one would be live.
    queries = [f"“{make_plain(query)}”" for query in list_queries(state["queries"])]
    if queries:
        lines.append(f"{words['looked_for']}: {', '.join(queries)}.")
    # Missing words tell a reader more than a confidence does.
    evidence = state["evidence"]
    if evidence["missing"]:
        lines.append(f"{words['missing']}: {evidence['missing'].rstrip('.')}.")
    elif evidence["verdict"] != "enough" and evidence["reasons"]:
        lines.append(f"{words['why']}: {'; '.join(evidence['reasons'])}.")
    if nearest.lines:
        lines.append(nearest.block)
    if coverage and is_whole(coverage):
        lines.append(describe_coverage(coverage, words))
    turn.count(nearest=len(nearest.lines))
    return _end(turn, state, "\n\n".join(lines))


def _end(turn: Turn, state: State, answer: str) -> Update:
    message_id = new_message_id()  # the reader may have seen a draft under the previous id
    turn.show_answer(message_id, answer)
    return {
        "answer": answer,
        "claims": [],
        "check": {**state["check"], "status": "not_found"},
        "draft": {**state["draft"], "message_id": message_id},
    }
