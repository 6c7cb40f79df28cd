"""An evaluation of retrieval, from what was asked for to the exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from anabranch.agent.nodes.settings import Context
from anabranch.cli.output import check_folder, notes, say
from anabranch.cli.progress import bar, stages
from anabranch.cli.search_view import hits_of
from anabranch.cli.settings_options import context_of as context_given
from anabranch.errors import SettingsError
from anabranch.retrieval.trec_run import best_per_document
from anabranch_evaluation.answer_report import answers_reported
from anabranch_evaluation.collection import Collection, read_collection
from anabranch_evaluation.collection_corpus import Prepared, opened, prepare
from anabranch_evaluation.collection_scores import CollectionScores, scored_collection
from anabranch_evaluation.eval_answers import answers_measured
from anabranch_evaluation.eval_judge import judged
from anabranch_evaluation.eval_output import EvalOptions, deliver
from anabranch_evaluation.eval_settings import (
    FoundCollections,
    Selection,
    Values,
    collections_of,
    context_of,
    measured_too_far,
    settings_of,
    settings_shown,
    usual_corpus,
)
from anabranch_evaluation.runs import FoundDocuments, Run, run_queries
from anabranch_evaluation.score_report import reported
from anabranch_evaluation.score_tables import (
    AnswerTable,
    EvalTable,
    JudgedTable,
    ScoreTable,
    read_table,
    usual_table,
)

MOST_DOCUMENTS = 1000
"""Of one ranking."""


def evaluated(asked: EvalOptions) -> int:
    """Measure, show and write what was asked for; return 1 where a score is not as expected."""
    # A report that cannot be written is known now, not after the measurement.
    for path, option in ((asked.report, "--report"), (asked.per_query, "--per-query")):
        if path is not None:
            check_folder(path, option)
    # Explicit ones only: for a table the environment of whoever runs it counts for nothing.
    given = context_given(asked.sets).explicit
    table, collections = _table(asked)
    # Before anything is measured: a table takes hours.
    if asked.write and collections.absent:
        msg = f"--write writes the report of the whole table, and these are not here: {', '.join(collections.absent)}."
        raise SettingsError(msg, hint="Use --report FILE.md for a part.")
    settings = settings_of(table, given, reproducible=asked.is_table, where=str(asked.what))
    if isinstance(table, ScoreTable):
        for said in measured_too_far(table, settings):
            say(notes(), f"{said}.", style="yellow")
    prepared = [_prepared(collection, table, asked) for collection in collections.here]
    if isinstance(table, JudgedTable):
        report = asyncio.run(judged(table, prepared, settings, Selection(asked.only), collections.absent))
    elif isinstance(table, AnswerTable):
        answered = asyncio.run(answers_measured(table, prepared, settings))
        report = answers_reported(table, answered, collections.absent)
    else:
        found = asyncio.run(_measured(table, prepared, settings, Selection(asked.only)))
        shown = {name: settings_shown(values) for name, values in settings.items()}
        report = reported(table, found, collections.absent, shown)
    has_failed = deliver(report, asked)
    return 1 if has_failed or (asked.strict and collections.absent) else 0


def _table(asked: EvalOptions) -> tuple[EvalTable, FoundCollections]:
    selection = Selection(asked.only)
    if asked.is_table:
        table = _read_table(asked)
        return table, collections_of(table, asked.data, asked.collections, selection, split=asked.split)
    collection = read_collection(asked.what, split=asked.split)
    if asked.judge_model:
        title = f"Answers on {collection.name}"
        judging = JudgedTable(kind="judged", title=title, collections=(collection.name,))
        return _judged_by(judging, asked), FoundCollections((collection,), ())
    usual = usual_table(collection.name, passages=bool(collection.evidence))
    selection.check([collection.name], list(usual.configurations))
    return _compared_with(usual, asked.baseline), FoundCollections((collection,), ())


def _read_table(asked: EvalOptions) -> EvalTable:
    table = read_table(asked.what)
    if isinstance(table, JudgedTable):
        return _judged_by(table, asked)
    if asked.judge_model:
        raise SettingsError("--judge-model goes with a folder, or a table of `kind: judged`.", hint="Leave it out.")
    return table if isinstance(table, AnswerTable) else _compared_with(table, asked.baseline)


def _judged_by(table: JudgedTable, asked: EvalOptions) -> JudgedTable:
    judge = {**table.judge, "model": asked.judge_model} if asked.judge_model else table.judge
    return table.model_copy(update={"judge": judge})


def _compared_with(table: ScoreTable, baseline: str | None) -> ScoreTable:
    if baseline is None:
        return table
    if baseline not in table.configurations:
        msg = f"There is no configuration {baseline!r} to compare with."
        raise SettingsError(msg, hint=f"The configurations are {', '.join(table.configurations)}.")
    return table.model_copy(update={"baseline": baseline})


def _prepared(collection: Collection, table: EvalTable, asked: EvalOptions) -> Prepared:
    """Bring the corpus of a collection up to date, with progress on standard error."""
    # A collection's own documents count before the corpus that one usually asks.
    usual = None if asked.is_table or collection.sources else usual_corpus()
    if (corpus := asked.corpus or usual) is not None:
        return opened(collection, corpus)
    # With the name of the collection: a table embeds one after the other.
    labels = {stage: f"{collection.name}: {stage}" for stage in ("files", "passages", "index")}
    with stages(**labels) as told:
        return prepare(
            collection,
            asked.cache,
            embedder=asked.embedder,
            base_url=asked.base_url,
            sizes=table.chunk_sizes,
            fresh=asked.fresh,
            progress=told,
        )


async def _measured(
    table: ScoreTable, prepared: Sequence[Prepared], settings: Mapping[str, Values], selection: Selection
) -> list[CollectionScores]:
    reports = []
    for each in prepared:
        chosen = selection.of(each.collection.name, settings)
        contexts = {name: context_of(settings[name], str(each.corpus)) for name in chosen}
        runs = await _runs(each, contexts)
        # In a thread: the permutation tests take seconds of pure computation.
        reports.append(await asyncio.to_thread(scored_collection, table, each, runs))
    return reports


async def _runs(prepared: Prepared, contexts: Mapping[str, Context]) -> dict[str, Run]:
    # Evidence by pattern judges passages, BEIR's judgements are of documents.
    by_passage = bool(prepared.collection.evidence)

    async def search(configuration: str, query: str) -> FoundDocuments:
        hits, state = await hits_of(query, contexts[configuration], None)
        keyed = ((chunk.chunk_id if by_passage else chunk.doc_key, item["score"]) for item, chunk in hits)
        # A document is as good as its best passage, as in a TREC run.
        ranked = best_per_document(keyed, MOST_DOCUMENTS)
        degraded = tuple(f"{item['step']}: {item['reason']}" for item in state["degraded"])
        return FoundDocuments(tuple(key for key, _ in ranked), degraded)

    queries = prepared.collection.queries
    with bar(f"{prepared.collection.name}: queries", len(queries)) as advance:
        return await run_queries(queries, list(contexts), search, told=advance)
