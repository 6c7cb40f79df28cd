"""Asks the questions of a table of answers, and keeps what became of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from anabranch.cli.eval_settings import Values, context_of
from anabranch.cli.progress import bar
from anabranch.evaluation.answer_quality import Outcome, WrittenAnswer, outcome_of
from anabranch.evaluation.answer_report import AnswerCollection
from anabranch.evaluation.collection_corpus import Prepared
from anabranch.evaluation.question_selection import Question, asked_of, pool_of
from anabranch.evaluation.score_tables import ANSWERS, AnswerTable
from graph.answer import graph
from nodes.settings import Context
from nodes.state import CHANNELS, InputState
from nodes.support.dependencies import chunks_of

_MARKER = re.compile(r"\s?\[(?:\d+|\?)\]")


async def answers_measured(
    table: AnswerTable, prepared: Sequence[Prepared], settings: Mapping[str, Values]
) -> list[AnswerCollection]:
    """Ask each collection its questions."""
    pools = {each.collection.name: pool_of(each.collection, each.documents) for each in prepared}
    found = []
    for each in prepared:
        name = each.collection.name
        context = context_of(settings[ANSWERS], str(each.corpus))
        questions = asked_of(name, pools, table)
        outcomes = await _answered(questions, context, name)
        found.append(AnswerCollection(name, outcomes, each.collection.remarks))
    return found


async def _answered(questions: Sequence[Question], context: Context, label: str) -> tuple[Outcome, ...]:
    outcomes = []
    with bar(f"{label}: questions", len(questions)) as advance:
        for question in questions:
            written = await written_answer(question, context)
            outcomes.append(outcome_of(question.id, question.kind, written, question.gold))
            advance()
    return tuple(outcomes)


async def written_answer(question: Question, context: Context) -> WrittenAnswer:
    """Return what the graph answers to a question, without its markers."""
    given = InputState(question=question.text, filters=question.filters)
    state = await graph.ainvoke(given, context=context, output_keys=CHANNELS)
    chunks = await chunks_of(context, state, [passage["id"] for passage in state["passages"]])
    return WrittenAnswer(
        # Markers are no words of the answer, and would count against its precision.
        text="" if state["abstained"] else _MARKER.sub("", state["answer"]),
        passages="\n".join(chunk.text for chunk in chunks.values()),
        sentences=0 if state["abstained"] else len(state["citations"]),
        confidence=state["evidence_scores"].get("confidence", 0.0),
        features=state["evidence_scores"],
    )
