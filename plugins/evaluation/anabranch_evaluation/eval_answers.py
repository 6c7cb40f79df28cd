"""Asks the questions of a table of answers, and measures the answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from anabranch.agent.graph.answer import graph
from anabranch.agent.graph.dependencies import read_chunks
from anabranch.agent.nodes.compose import is_weak
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE, InputState, State
from anabranch.cli.progress import bar
from anabranch_evaluation.answer_quality import WrittenAnswer, outcome_of
from anabranch_evaluation.answer_report import AnswerCollection
from anabranch_evaluation.collection_corpus import Prepared
from anabranch_evaluation.eval_settings import Values, context_of
from anabranch_evaluation.question_selection import Question, choose_questions, pool_of
from anabranch_evaluation.score_tables import ANSWERS, AnswerTable

# [?] follows a claim without support.
_MARKER = re.compile(r"\s?\[(?:\d+|\?)\]")


async def measure_answers(
    table: AnswerTable, prepared: Sequence[Prepared], settings: Mapping[str, Values]
) -> list[AnswerCollection]:
    """Ask the questions of each collection."""
    pools = {each.collection.name: pool_of(each.collection, each.documents) for each in prepared}
    found = []
    for each in prepared:
        name = each.collection.name
        context = context_of(settings[ANSWERS], str(each.corpus))
        questions = choose_questions(name, pools, table)
        written = await write_answers(questions, context, f"{name}: questions")
        pairs = zip(questions, written, strict=True)
        outcomes = tuple(outcome_of(asked.id, asked.kind, answer, asked.gold) for asked, answer in pairs)
        found.append(AnswerCollection(name, outcomes, each.collection.remarks))
    return found


async def write_answers(questions: Sequence[Question], context: Context, label: str) -> list[WrittenAnswer]:
    """Return the graph's answer to each question; `label` names the progress bar."""
    found = []
    with bar(label, len(questions)) as advance:
        for question in questions:
            found.append(await _write(question, context))
            advance()
    return found


async def _write(question: Question, context: Context) -> WrittenAnswer:
    """Return the graph's answer to a question, without its markers."""
    given = InputState(question=question.text, filters=question.filters)
    # Without a thread, so that each question stands alone.
    state = cast("State", await graph.ainvoke(given, context=context, output_keys=VISIBLE))
    best = [candidate["id"] for candidate in state["candidates"][:1]]
    ids = [passage["id"] for passage in state["passages"]]
    chunks = await read_chunks(context, state, [*best, *ids])
    return WrittenAnswer(
        text=_answer_text(state),
        passages="\n".join(chunks[each].text for each in ids if each in chunks),
        best="".join(chunks[each].text for each in best if each in chunks),
        is_weak=is_weak(state),
        confidence=state["evidence"]["scores"].get("confidence", 0.0),
        features=state["evidence"]["scores"],
    )


def _answer_text(state: State) -> str:
    """Return the answer's text, or the quotes where passages are shown."""
    if state["check"]["status"] == "not_found":
        return ""
    if state["route"]["name"] == "compose":
        return "\n\n".join(citation["quote"] for citation in state["claims"] if citation["grade"] != "not_confirmed")
    return _MARKER.sub("", state["answer"])
