"""Lets each configuration answer the questions of a table, and a chat model judge the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from anabranch.agent.graph.dependencies import MAX_CONCURRENCY, load_corpus, load_model
from anabranch.errors import SettingsError
from anabranch.models.chat import Chat
from anabranch.models.embedder import Embedder
from anabranch.models.usage import metered
from anabranch_evaluation.answer_judge import Judge
from anabranch_evaluation.answer_quality import WrittenAnswer
from anabranch_evaluation.collection_corpus import Prepared
from anabranch_evaluation.eval_answers import write_answers
from anabranch_evaluation.eval_report import EvalReport
from anabranch_evaluation.eval_settings import Selection, Values, context_of
from anabranch_evaluation.judge_report import JudgedAnswer, JudgeUsage, judged_report
from anabranch_evaluation.question_selection import Question, pool_of, spread
from anabranch_evaluation.score_tables import JudgedTable


async def judge_answers(
    table: JudgedTable,
    prepared: Sequence[Prepared],
    settings: Mapping[str, Values],
    selection: Selection,
    absent: tuple[str, ...],
) -> EvalReport:
    """Answer and judge; the configuration that others are compared with always answers.

    Raises:
        SettingsError: There is no judge.
    """
    chat = await _load_judge(table, settings)
    judge = Judge(chat, concurrency=MAX_CONCURRENCY)
    rows: list[JudgedAnswer] = []
    remarks: list[tuple[str, str]] = []
    # Steps have meters of their own, so this one counts only the judge's calls.
    with metered() as meter:
        for each in prepared:
            name = each.collection.name
            wanted = {table.compared_with, *selection.select(name, settings)}
            rows += await _judge_collection(
                judge, table, each, {key: settings[key] for key in settings if key in wanted}
            )
            remarks += [(name, remark) for remark in each.collection.remarks]
            if judge.failures:
                remark = f"{len(judge.failures)} calls of the judge failed; the first: {judge.failures[0]}"
                remarks.append((name, remark))
                # Cleared, because the next collection has a remark of its own.
                judge.failures.clear()
    usage = JudgeUsage(chat.settings.model, meter.calls, meter.prompt_tokens, meter.output_tokens)
    return judged_report(table, rows, usage, absent, tuple(remarks))


async def _load_judge(table: JudgedTable, settings: Mapping[str, Values]) -> Chat:
    # The corpus is not opened here, so any name will do.
    chat = await load_model(context_of({**settings[table.compared_with], **table.judge}, "-"), anew=True)
    if chat is None:
        msg = "No chat model is set to judge the answers."
        raise SettingsError(msg, hint="Name one with --judge-model, in the table under `judge`, or with --set model=.")
    return chat


async def _judge_collection(
    judge: Judge, table: JudgedTable, each: Prepared, settings: Mapping[str, Values]
) -> list[JudgedAnswer]:
    name, pool = each.collection.name, pool_of(each.collection, each.documents)
    asked = spread(pool.own, table.questions or len(pool.own))
    contexts = {key: context_of(values, str(each.corpus)) for key, values in settings.items()}
    written = {key: await write_answers(asked, each, f"{name}/{key}: answers") for key, each in contexts.items()}
    embedder = (await load_corpus(contexts[table.compared_with])).embedder
    # One after the other; within each, the judge limits the concurrent calls.
    found = [
        await _judge_configuration(judge, embedder, asked, (name, key), written, table.compared_with)
        for key in contexts
    ]
    return [row for rows in found for row in rows]


async def _judge_configuration(
    judge: Judge,
    embedder: Embedder,
    asked: Sequence[Question],
    place: tuple[str, str],
    written: Mapping[str, Sequence[WrittenAnswer]],
    baseline: str,
) -> list[JudgedAnswer]:
    collection, configuration = place

    async def one(question: Question, answer: WrittenAnswer, other: WrittenAnswer) -> JudgedAnswer:
        reference = question.gold.reference
        has_other = configuration != baseline and answer.text and other.text
        return JudgedAnswer(
            collection=collection,
            configuration=configuration,
            question=question.id,
            text=question.text,
            answer=answer.text,
            reference=reference,
            scores=await judge.scores(question, answer.text, answer.passages) if answer.text else {},
            # In a thread, because a local embedder would block the judge's replies.
            similarity=await asyncio.to_thread(_similarity, embedder, answer.text, reference),
            compared=await judge.compare(question, answer.text, other.text) if has_other else None,
        )

    trios = zip(asked, written[configuration], written[baseline], strict=True)
    return list(await asyncio.gather(*(one(*each) for each in trios)))


def _similarity(embedder: Embedder, answer: str, reference: str) -> float | None:
    if not answer or not reference:
        return None
    first, second = embedder.embed([answer, reference])
    return float(first @ second)
