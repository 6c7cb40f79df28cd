"""An evaluation of answers, from a table to the exit code."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from anabranch.cli.atomic_write import check_folder, write_whole
from anabranch.cli.eval_contexts import context_of, settings_of
from anabranch.cli.eval_places import Selection, places_of
from anabranch.cli.eval_run import Asked, command_of, prepared_of
from anabranch.cli.eval_view import print_grid
from anabranch.cli.output import notes, results, say, write_json
from anabranch.cli.progress import bar
from anabranch.cli.settings_options import context_of as context_given
from anabranch.errors import SettingsError
from anabranch.evaluation.answer_quality import Outcome, Written, outcome_of
from anabranch.evaluation.answer_report import (
    AnswerCollection,
    AnswerReport,
    curves,
    markdown_of_answers,
    sections,
    values_of,
)
from anabranch.evaluation.answer_tables import AnswerTable, answers_expected, read_answer_table
from anabranch.evaluation.calibration import Weights
from anabranch.evaluation.collection_corpus import Prepared
from anabranch.evaluation.curve_plot import plot_of_curves
from anabranch.evaluation.question_selection import Question, asked_of, pool_of
from anabranch.evaluation.score_tables import Table
from anabranch.retrieval.answerability import BIAS, SURE, WEIGHTS
from graph.answer import graph
from nodes.settings import Context, in_force
from nodes.state import CHANNELS, InputState
from nodes.support.dependencies import chunks_of

CONFIGURATION = "answers"
_MARKER = re.compile(r"\s?\[(?:\d+|\?)\]")


def answers_evaluated(asked: Asked) -> int:
    """Measure, show and write what was asked for; return 1 where a value is not as expected."""
    for path, option in ((asked.report, "--report"), (asked.per_query, "--per-query")):
        if path is not None:
            check_folder(path, option)
    table = read_answer_table(asked.what)
    plain = _plain(table)
    places = places_of(plain, asked.data, asked.places, Selection(asked.only), split=asked.split)
    if asked.write and places.absent:
        msg = f"--write writes the report of the whole table, and these are not here: {', '.join(places.absent)}."
        raise SettingsError(msg, hint="Use --report FILE.md for a part.")
    given = context_given(asked.sets).explicit
    values = settings_of(plain, given, reproducible=True, where=str(asked.what))[CONFIGURATION]
    prepared = [prepared_of(collection, plain, asked) for collection in places.here]
    found = asyncio.run(_measured(table, prepared, values))
    report = AnswerReport(table, tuple(found), places.absent, SURE, Weights(BIAS, dict(WEIGHTS)))
    _tell(report, asked)
    drifted = any(check.verdict == "drift" for check in report.checks()) and not asked.accept
    return 1 if drifted or (asked.strict and places.absent) else 0


def _plain(table: AnswerTable) -> Table:
    """Return what the table has in common with one of retrieval."""
    return Table(
        title=table.title,
        metrics=("R@10",),
        embedder=table.embedder,
        chunk_sizes=table.chunk_sizes,
        settings=table.settings,
        configurations={CONFIGURATION: {}},
        collections=table.collections,
    )


async def _measured(table: AnswerTable, prepared: Sequence[Prepared], values: dict[str, Any]) -> list[AnswerCollection]:
    pools = {each.collection.name: pool_of(each.collection, each.documents) for each in prepared}
    found = []
    for each in prepared:
        name = each.collection.name
        context = context_of(values, str(each.corpus))
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


async def _written(question: Question, context: Context) -> Written:
    given = InputState(question=question.text, filters=question.filters)
    state = await graph.ainvoke(given, context=context, output_keys=CHANNELS)
    chunks = await chunks_of(context, state, [passage["id"] for passage in state["passages"]])
    return Written(
        text="" if state["abstained"] else _MARKER.sub("", state["answer"]),
        passages="\n".join(chunk.text for chunk in chunks.values()),
        sentences=0 if state["abstained"] else len(state["citations"]),
        confidence=state["signals"].get("confidence", 0.0),
        signals=state["signals"],
    )


def _tell(report: AnswerReport, asked: Asked) -> None:
    if asked.as_json:
        write_json(_json(report))
    else:
        for section in sections(report):
            say(results(), section.title, style="bold")
            print_grid(results(), section.names, section.rows)
    for each in report.collections:
        for remark in each.remarks:
            say(notes(), f"{each.name}: {remark}.", style="yellow")
    for path in filter(None, (asked.report, asked.what.with_suffix(".md") if asked.write else None)):
        _write(report, path, asked)
    if asked.per_query is not None:
        write_whole(asked.per_query, "".join(_lines(report)))
    if asked.accept:
        values = {each.name: values_of(each) for each in report.collections}
        found = {
            index: value
            for index, case in enumerate(report.table.cases)
            if (value := values.get(case.collection, {}).get(case.measure)) is not None
        }
        write_whole(asked.what, answers_expected(asked.what, found))
        say(notes(), f"{asked.what} expects {len(found)} values as they were measured.")


def _write(report: AnswerReport, path: Path, asked: Asked) -> None:
    plot = path.with_suffix(".svg")
    write_whole(path, markdown_of_answers(report, command=command_of(asked), plot=plot.name))
    write_whole(plot, plot_of_curves(curves(report), report.threshold))
    say(notes(), f"{path} and {plot} are written.")


def _json(report: AnswerReport) -> dict[str, Any]:
    return {
        "title": report.table.title,
        "threshold": report.threshold,
        "collections": {each.name: values_of(each) for each in report.collections},
        "curves": {name: [asdict(point) for point in points] for name, points in curves(report).items()},
        "absent": list(report.absent),
        "checks": [{**asdict(check), "case": check.case.model_dump()} for check in report.checks()],
    }


def _lines(report: AnswerReport) -> list[str]:
    rows = (
        {"collection": each.name, "gated": gated, **asdict(outcome)}
        for each in report.collections
        for gated, outcomes in ((True, each.outcomes), (False, each.ungated))
        for outcome in outcomes
    )
    return [f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows]
