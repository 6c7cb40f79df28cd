"""Asks the questions of a table of answers, and keeps what became of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from anabranch.cli.eval_settings import Values, context_of
from anabranch.cli.progress import bar
from anabranch.evaluation.answer_quality import Outcome, WrittenAnswer, outcome_of
from anabranch.evaluation.answer_report import AnswerCollection, answers_reported
from anabranch.evaluation.calibration import LogisticWeights
from anabranch.evaluation.collection_corpus import Prepared
from anabranch.evaluation.eval_report import EvalReport
from anabranch.evaluation.question_selection import Question, asked_of, pool_of
from anabranch.evaluation.score_tables import ANSWERS, AnswerTable
from anabranch.retrieval.answerability import BIAS, SURE, WEIGHTS
from graph.answer import graph
from nodes.settings import Context
from nodes.state import CHANNELS, InputState
from nodes.support.dependencies import chunks_of
from nodes.support.settings_precedence import in_force

_MARKER = re.compile(r"\s?\[(?:\d+|\?)\]")


def answer_report(table: AnswerTable, found: Sequence[AnswerCollection], absent: tuple[str, ...]) -> EvalReport:
    """Return the report of what was measured, with the weights and the threshold in force."""
    return answers_reported(table, found, absent, SURE, LogisticWeights(BIAS, dict(WEIGHTS)))


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
        forced = await _forced(questions, outcomes, context, name)
        found.append(AnswerCollection(name, each.documents, outcomes, forced, each.collection.remarks))
    return found


async def _forced(
    questions: Sequence[Question], outcomes: Sequence[Outcome], context: Context, name: str
) -> tuple[Outcome, ...]:
    """Return what becomes of own questions when all are answered: risk against coverage needs that.

    An answer that was given is the one that would be; the others are asked for again.
    """
    own = [
        (question, outcome)
        for question, outcome in zip(questions, outcomes, strict=True)
        if question.kind == "own" and question.gold.is_comparable
    ]
    # Where abstentions were left out, a system that answers only what it is sure of would look as good as one that is
    # right.
    open_to_all = in_force(Context(**{**context.explicit, "grade": "none"}))
    again = await _answered([each for each, outcome in own if not outcome.answered], open_to_all, f"{name}, abstained")
    return (*(outcome for _, outcome in own if outcome.answered), *again)


async def _answered(questions: Sequence[Question], context: Context, label: str) -> tuple[Outcome, ...]:
    outcomes = []
    with bar(f"{label}: questions", len(questions)) as advance:
        for question in questions:
            written = await _written(question, context)
            outcomes.append(outcome_of(question.id, question.kind, written, question.gold))
            advance()
    return tuple(outcomes)


async def _written(question: Question, context: Context) -> WrittenAnswer:
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
