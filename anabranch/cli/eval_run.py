"""An evaluation of retrieval, from what was asked for to the exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anabranch.cli.eval_answers import answer_report, answers_measured
from anabranch.cli.eval_output import EvalOptions, deliver
from anabranch.cli.eval_settings import (
    FoundCollections,
    Selection,
    Values,
    collections_of,
    context_of,
    measured_too_far,
    settings_of,
    settings_shown,
)
from anabranch.cli.output import check_folder, notes, say
from anabranch.cli.progress import bar, stages
from anabranch.cli.search_view import hits_of
from anabranch.cli.settings_options import context_of as context_given
from anabranch.errors import SettingsError
from anabranch.evaluation.collection import Collection, read_collection
from anabranch.evaluation.collection_corpus import CorpusOptions, Prepared, opened, prepare
from anabranch.evaluation.collection_scores import CollectionScores, scored_collection
from anabranch.evaluation.metrics import TextSpan
from anabranch.evaluation.passage_builders import PassageBuilder, passages_of
from anabranch.evaluation.runs import FoundDocuments, Run, SearchFunction, best_per_document, run_queries
from anabranch.evaluation.score_report import reported
from anabranch.evaluation.score_tables import (
    AnswerTable,
    EvalTable,
    ScoreTable,
    is_answer_table,
    read_answer_table,
    read_table,
    usual_table,
)
from anabranch.evaluation.span_evidence import with_spans
from anabranch.models.lru import LRU
from anabranch.store.chunk_ancestors import Ancestry, ancestry_of
from anabranch.store.stores import open_corpus
from nodes.settings import Context
from nodes.support.dependencies import corpus_of, scope_of

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
    if asked.write and collections.absent:
        msg = f"--write writes the report of the whole table, and these are not here: {', '.join(collections.absent)}."
        raise SettingsError(msg, hint="Use --report FILE.md for a part.")
    settings = settings_of(table, given, reproducible=asked.is_table, where=str(asked.what))
    if isinstance(table, ScoreTable):
        for said in measured_too_far(table, settings):
            say(notes(), f"{said}.", style="yellow")
    prepared = [_prepared(collection, table, asked) for collection in collections.here]
    if isinstance(table, AnswerTable):
        report = answer_report(table, asyncio.run(answers_measured(table, prepared, settings)), collections.absent)
    else:
        found = asyncio.run(_measured(table, prepared, settings, Selection(asked.only)))
        shown = {name: settings_shown(values) + passages_shown(table, name) for name, values in settings.items()}
        report = reported(table, found, collections.absent, shown)
    has_failed = deliver(report, asked)
    return 1 if has_failed or (asked.strict and collections.absent) else 0


def _table(asked: EvalOptions) -> tuple[EvalTable, FoundCollections]:
    selection = Selection(asked.only)
    if asked.is_table:
        if is_answer_table(asked.what):
            table: EvalTable = read_answer_table(asked.what)
        else:
            table = _compared_with(read_table(asked.what), asked.baseline)
        return table, collections_of(table, asked.data, asked.collections, selection, split=asked.split)
    collection = read_collection(asked.what, split=asked.split)
    usual = usual_table(collection.name, passages=bool(collection.evidence))
    selection.check([collection.name], list(usual.configurations))
    return _compared_with(usual, asked.baseline), FoundCollections((collection,), ())


def _compared_with(table: ScoreTable, baseline: str | None) -> ScoreTable:
    if baseline is None:
        return table
    if baseline not in table.configurations:
        msg = f"There is no configuration {baseline!r} to compare with."
        raise SettingsError(msg, hint=f"The configurations are {', '.join(table.configurations)}.")
    return table.model_copy(update={"baseline": baseline})


def _prepared(collection: Collection, table: EvalTable, asked: EvalOptions) -> Prepared:
    """Bring the corpus of a collection up to date, with progress on standard error."""
    if asked.corpus is not None:
        return opened(collection, asked.corpus)
    making = CorpusOptions(
        home=asked.cache,
        embedder=asked.embedder,
        base_url=asked.base_url,
        sizes=table.chunk_sizes,
        fresh=asked.fresh,
    )
    labels = {stage: f"{collection.name}: {stage}" for stage in ("files", "passages", "index")}
    with stages(**labels) as told:
        return prepare(collection, making, told)


async def _measured(
    table: ScoreTable, prepared: Sequence[Prepared], settings: Mapping[str, Values], selection: Selection
) -> list[CollectionScores]:
    reports = []
    for each in prepared:
        chosen = selection.of(each.collection.name, settings)
        contexts = {name: context_of(settings[name], str(each.corpus)) for name in chosen}
        if table.kind == "spans":
            reports.append(await _measured_by_spans(table, each, contexts))
            continue
        runs = await _runs(each, contexts)
        # In a thread: the permutation tests take seconds of pure computation.
        reports.append(await asyncio.to_thread(scored_collection, table, each, runs))
    return reports


async def _measured_by_spans(
    table: ScoreTable, prepared: Prepared, contexts: Mapping[str, Context]
) -> CollectionScores:
    corpus = await open_corpus(prepared.corpus)
    prepared, evidence = await asyncio.to_thread(with_spans, prepared, corpus.embedder)
    runs = await _run(prepared, contexts, span_search(contexts, table.passages))
    return await asyncio.to_thread(scored_collection, table, prepared, runs, evidence)


async def _runs(prepared: Prepared, contexts: Mapping[str, Context]) -> dict[str, Run]:
    by_passage = bool(prepared.collection.evidence)

    async def search(configuration: str, query: str) -> FoundDocuments:
        hits, state = await hits_of(query, contexts[configuration], None)
        keyed = ((chunk.chunk_id if by_passage else chunk.doc_key, item["score"]) for item, chunk in hits)
        ranked = best_per_document(keyed, MOST_DOCUMENTS)
        degraded = tuple(f"{item['step']}: {item['reason']}" for item in state["degraded"])
        return FoundDocuments(tuple(key for key, _ in ranked), degraded)

    return await _run(prepared, contexts, search)


async def _run(prepared: Prepared, contexts: Mapping[str, Context], search: SearchFunction) -> dict[str, Run]:
    queries = prepared.collection.queries
    with bar(f"{prepared.collection.name}: queries", len(queries)) as advance:
        return await run_queries(queries, list(contexts), search, told=advance)


AFTER_SEARCH = frozenset({"merge_threshold", "window_tokens"})
"""Settings that only change what passages are made of the leaves that were found."""

KEPT = 256
"""Searches that configurations share: one query goes through all of them in a row."""


@dataclass(frozen=True, slots=True)
class _Leaves:
    ranked: dict[str, float]
    degraded: tuple[str, ...]
    around: Ancestry


async def _leaves_of(query: str, context: Context) -> _Leaves:
    hits, state = await hits_of(query, context, None)
    corpus, scope = await corpus_of(context), scope_of(context, None)
    around = await ancestry_of(corpus, scope, {chunk.chunk_id: chunk for _, chunk in hits})
    degraded = tuple(f"{item['step']}: {item['reason']}" for item in state["degraded"])
    return _Leaves({chunk.chunk_id: item["score"] for item, chunk in hits}, degraded, around)


def span_search(contexts: Mapping[str, Context], builders: Mapping[str, PassageBuilder]) -> SearchFunction:
    """Return what answers a query in a configuration with the places of its passages.

    Args:
        contexts: The settings of each configuration.
        builders: How it makes passages, where not as the product does.
    """
    keys = {name: context.model_dump_json(exclude=set(AFTER_SEARCH)) for name, context in contexts.items()}
    known: LRU[tuple[str, str], _Leaves] = LRU(KEPT)

    async def search(configuration: str, query: str) -> FoundDocuments:
        context, builder = contexts[configuration], builders.get(configuration, PassageBuilder())
        key = (keys[configuration], query)
        leaves = known.get(key) or await _leaves_of(query, context)
        known.set(key, leaves)
        around = leaves.around
        ids = passages_of(
            builder, leaves.ranked, around, threshold=context.merge_threshold, window=context.window_tokens
        )
        others = [chunk_id for chunk_id in ids if chunk_id not in around.chunks]
        fetched = await (await corpus_of(context)).chunks(others, scope_of(context, None)) if others else {}
        chunks = {**around.chunks, **fetched}
        found = [chunks[chunk_id] for chunk_id in ids if chunk_id in chunks]
        documents = tuple(dict.fromkeys(chunk.doc_key for chunk in found))
        return FoundDocuments(
            documents, leaves.degraded, tuple(TextSpan(chunk.doc_id, chunk.start, chunk.end) for chunk in found)
        )

    return search


def passages_shown(table: ScoreTable, configuration: str) -> str:
    """Return how a configuration makes passages, if not as the product does, to be put after its settings."""
    builder = table.passages.get(configuration, PassageBuilder())
    given = ", ".join(f"{name}={value}" for name, value in builder.model_dump(exclude_defaults=True).items())
    return f"; passages: {given}" if given else ""
