"""Runs an evaluation, from the options to the exit code."""

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
from anabranch_evaluation.answer_report import report_answers
from anabranch_evaluation.collection import Collection, read_collection
from anabranch_evaluation.collection_corpus import Prepared, open_prepared, prepare
from anabranch_evaluation.collection_scores import CollectionScores, score_collection
from anabranch_evaluation.eval_answers import measure_answers
from anabranch_evaluation.eval_judge import judge_answers
from anabranch_evaluation.eval_output import EvalOptions, deliver
from anabranch_evaluation.eval_report import EvalReport
from anabranch_evaluation.eval_settings import (
    FoundCollections,
    Selection,
    Values,
    collections_of,
    context_of,
    describe_settings,
    find_short_rankings,
    settings_of,
    usual_corpus,
)
from anabranch_evaluation.runs import FoundDocuments, Run, run_queries
from anabranch_evaluation.score_report import report_scores
from anabranch_evaluation.score_tables import (
    AnswerTable,
    EvalTable,
    JudgedTable,
    ScoreTable,
    read_table,
    usual_table,
)

MOST_DOCUMENTS = 1000
"""Most documents of a ranking."""


def run_evaluation(options: EvalOptions) -> int:
    """Measure, print and write the report; return 1 if a score is not as expected."""
    # Checked now, not after hours of measurement.
    for path, option in ((options.report, "--report"), (options.per_query, "--per-query")):
        if path is not None:
            check_folder(path, option)
    # Only explicit ones: the environment must not change the scores of a table.
    given = context_given(options.sets).explicit
    table, collections = _table(options)
    if options.write and collections.absent:
        msg = f"--write needs all collections of the table, and these are missing: {', '.join(collections.absent)}."
        raise SettingsError(msg, hint="Use --report FILE.md for a part.")
    settings = settings_of(table, given, reproducible=options.is_table, where=str(options.what))
    report = _report(table, collections, settings, options)
    has_failed = deliver(report, options)
    return 1 if has_failed or (options.strict and collections.absent) else 0


def _report(
    table: EvalTable, collections: FoundCollections, settings: Mapping[str, Values], options: EvalOptions
) -> EvalReport:
    if isinstance(table, ScoreTable):
        for remark in find_short_rankings(table, settings):
            say(notes(), f"{remark}.", style="yellow")
        corpora = [_prepare_each(collection, table, options) for collection in collections.here]
        found = asyncio.run(_measure(table, corpora, settings))
        shown = {name: describe_settings(values, table.embedder(name)) for name, values in settings.items()}
        return report_scores(table, found, collections.absent, shown)
    prepared = [_prepare(collection, table, options, options.embedder) for collection in collections.here]
    if isinstance(table, JudgedTable):
        return asyncio.run(judge_answers(table, prepared, settings, Selection(options.only), collections.absent))
    return report_answers(table, asyncio.run(measure_answers(table, prepared, settings)), collections.absent)


def _table(options: EvalOptions) -> tuple[EvalTable, FoundCollections]:
    selection = Selection(options.only)
    if options.is_table:
        table = _read_table(options)
        return table, collections_of(table, options.data, options.collections, selection, split=options.split)
    collection = read_collection(options.what, split=options.split)
    if options.judge_model:
        title = f"Answers on {collection.name}"
        judging = JudgedTable(kind="judged", title=title, collections=(collection.name,))
        return _with_judge(judging, options), FoundCollections((collection,), ())
    usual = usual_table(collection.name, passages=bool(collection.evidence))
    selection.check([collection.name], list(usual.configurations))
    return _with_baseline(usual, options.baseline), FoundCollections((collection,), ())


def _read_table(options: EvalOptions) -> EvalTable:
    table = read_table(options.what)
    if isinstance(table, JudgedTable):
        return _with_judge(table, options)
    if options.judge_model:
        raise SettingsError("--judge-model goes with a folder or a table of `kind: judged`.", hint="Leave it out.")
    return table if isinstance(table, AnswerTable) else _with_baseline(table, options.baseline)


def _with_judge(table: JudgedTable, options: EvalOptions) -> JudgedTable:
    judge = {**table.judge, "model": options.judge_model} if options.judge_model else table.judge
    return table.model_copy(update={"judge": judge})


def _with_baseline(table: ScoreTable, baseline: str | None) -> ScoreTable:
    if baseline is None:
        return table
    if baseline not in table.configurations:
        msg = f"The baseline {baseline!r} is not a configuration of the table."
        raise SettingsError(msg, hint=f"The configurations are {', '.join(table.configurations)}.")
    return table.model_copy(update={"baseline": baseline})


def _prepare_each(collection: Collection, table: ScoreTable, options: EvalOptions) -> dict[str, Prepared]:
    """Update a corpus for each embedder of the configurations; return that of each configuration."""
    chosen = Selection(options.only).select(collection.name, table.configurations)
    embedders = {name: table.embedder(name) or options.embedder for name in chosen}
    prepared = {each: _prepare(collection, table, options, each) for each in dict.fromkeys(embedders.values())}
    return {name: prepared[embedder] for name, embedder in embedders.items()}


def _prepare(collection: Collection, table: EvalTable, options: EvalOptions, embedder: str) -> Prepared:
    """Update a corpus of a collection, with progress on standard error."""
    by_spans = isinstance(table, ScoreTable) and collection.name in table.by_passage
    # A collection's own documents take precedence over the environment's corpus.
    usual = None if options.is_table or collection.sources else usual_corpus()
    if (corpus := options.corpus or usual) is not None:
        return open_prepared(collection, corpus, by_spans=by_spans)
    # Bars name the collection, because a table embeds several.
    labels = {stage: f"{collection.name}: {stage}" for stage in ("files", "passages", "index")}
    with stages(**labels) as advance:
        return prepare(
            collection,
            options.cache,
            embedder=embedder,
            base_url=options.base_url,
            sizes=table.chunk_sizes,
            fresh=options.fresh,
            by_spans=by_spans,
            progress=advance,
        )


async def _measure(
    table: ScoreTable, corpora: Sequence[Mapping[str, Prepared]], settings: Mapping[str, Values]
) -> list[CollectionScores]:
    reports = []
    for prepared in corpora:
        runs: dict[str, Run] = {}
        # A configuration of another embedder searches another corpus.
        for corpus in dict.fromkeys(each.corpus for each in prepared.values()):
            names = [name for name, each in prepared.items() if each.corpus == corpus]
            contexts = {name: context_of(settings[name], str(corpus)) for name in names}
            runs |= await _run_configurations(prepared[names[0]], contexts)
        in_order = {name: runs[name] for name in prepared}
        # In a thread, because the permutation tests compute for seconds.
        reports.append(await asyncio.to_thread(score_collection, table, prepared, in_order))
    return reports


async def _run_configurations(prepared: Prepared, contexts: Mapping[str, Context]) -> dict[str, Run]:
    async def search(configuration: str, query: str) -> FoundDocuments:
        hits, state = await hits_of(query, contexts[configuration], None)
        keyed = ((chunk.chunk_id if prepared.is_by_passage else chunk.doc_key, item["score"]) for item, chunk in hits)
        # A document scores as its best passage, as in a TREC run.
        ranked = best_per_document(keyed, MOST_DOCUMENTS)
        degraded = tuple(f"{item['step']}: {item['reason']}" for item in state["degraded"])
        return FoundDocuments(tuple(key for key, _ in ranked), degraded)

    queries = prepared.collection.queries
    with bar(f"{prepared.collection.name}: queries", len(queries)) as advance:
        return await run_queries(queries, list(contexts), search, advance=advance)
