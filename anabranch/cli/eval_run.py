"""An evaluation, from what was asked for to the exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.progress import TaskID

from anabranch.cli.atomic_write import check_folder, write_whole
from anabranch.cli.eval_contexts import Values, context_of, measured_too_far, settings_of, settings_shown
from anabranch.cli.eval_json import per_query_lines, report_json
from anabranch.cli.eval_places import Places, Selection, places_of
from anabranch.cli.eval_spans import SpanSearch, passages_shown
from anabranch.cli.eval_view import print_report
from anabranch.cli.output import notes, results, say, write_json
from anabranch.cli.progress import bar, bars
from anabranch.cli.search_view import hits_of
from anabranch.cli.settings_options import context_of as context_given
from anabranch.errors import SettingsError
from anabranch.evaluation.bar_plot import plot_of
from anabranch.evaluation.collection import Collection, read_collection
from anabranch.evaluation.collection_corpus import Making, Prepared, opened, prepare
from anabranch.evaluation.default_table import usual_table
from anabranch.evaluation.markdown_report import markdown_of
from anabranch.evaluation.runs import Found, Run, Search, run_queries
from anabranch.evaluation.score_report import CollectionReport, Report, reported, scored_collection
from anabranch.evaluation.score_tables import Table, read_table, with_expected
from anabranch.evaluation.span_evidence import with_spans
from anabranch.evaluation.trec import best_per_document
from anabranch.store.corpus_handles import open_corpus
from nodes.settings import Context

MOST_DOCUMENTS = 1000
"""Of one ranking."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asked for."""

    what: Path
    is_table: bool
    data: Path | None = None
    places: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    baseline: str | None = None
    sets: tuple[str, ...] = ()
    embedder: str = ""
    base_url: str | None = None
    corpus: Path | None = None
    split: str = "test"
    cache: Path = Path(".anabranch/eval")
    fresh: bool = False
    report: Path | None = None
    write: bool = False
    per_query: Path | None = None
    accept: bool = False
    strict: bool = False
    as_json: bool = False


def evaluated(asked: Asked) -> int:
    """Measure, show and write what was asked for; return 1 where a score is not as expected."""
    for path, option in ((asked.report, "--report"), (asked.per_query, "--per-query")):
        if path is not None:
            check_folder(path, option)
    given = context_given(asked.sets).explicit
    table, places = _table(asked)
    if asked.write and places.absent:
        msg = f"--write writes the report of the whole table, and these are not here: {', '.join(places.absent)}."
        raise SettingsError(msg, hint="Use --report FILE.md for a part.")
    settings = settings_of(table, given, reproducible=asked.is_table, where=str(asked.what))
    for remark in measured_too_far(table, settings):
        say(notes(), f"{remark}.", style="yellow")
    prepared = [prepared_of(collection, table, asked) for collection in places.here]
    selection = Selection(asked.only)
    found = asyncio.run(_measured(table, prepared, settings, selection))
    shown = {name: settings_shown(values) + passages_shown(table, name) for name, values in settings.items()}
    report = reported(table, tuple(found), places.absent, shown)
    _tell(report, asked)
    return 1 if _has_failed(report, asked) else 0


def _table(asked: Asked) -> tuple[Table, Places]:
    selection = Selection(asked.only)
    if asked.is_table:
        table = _compared_with(read_table(asked.what), asked.baseline)
        return table, places_of(table, asked.data, asked.places, selection, split=asked.split)
    collection = read_collection(asked.what, split=asked.split)
    table = _compared_with(usual_table(collection.name, passages=bool(collection.evidence)), asked.baseline)
    selection.check([collection.name], list(table.configurations))
    return table, Places((collection,), ())


def _compared_with(table: Table, baseline: str | None) -> Table:
    if baseline is None:
        return table
    if baseline not in table.configurations:
        msg = f"There is no configuration {baseline!r} to compare with."
        raise SettingsError(msg, hint=f"The configurations are {', '.join(table.configurations)}.")
    return table.model_copy(update={"baseline": baseline})


def prepared_of(collection: Collection, table: Table, asked: Asked) -> Prepared:
    """Bring the corpus of a collection up to date, with progress on standard error."""
    if asked.corpus is not None:
        return opened(collection, asked.corpus)
    making = Making(
        home=asked.cache,
        embedder=asked.embedder or table.embedder,
        base_url=asked.base_url,
        sizes=table.chunk_sizes,
        fresh=asked.fresh,
    )
    with bars() as progress:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int, detail: str = "") -> None:  # noqa: ARG001  # the protocol's
            if stage not in tasks:
                tasks[stage] = progress.add_task(f"{collection.name}: {stage}", total=total or None)
            progress.update(tasks[stage], completed=done, total=total or None)

        return prepare(collection, making, told)


async def _measured(
    table: Table, prepared: Sequence[Prepared], settings: Mapping[str, Values], selection: Selection
) -> list[CollectionReport]:
    reports = []
    for each in prepared:
        chosen = selection.of(each.collection.name, settings)
        contexts = {name: context_of(settings[name], str(each.corpus)) for name in chosen}
        if table.kind == "spans":
            reports.append(await _measured_by_spans(table, each, contexts))
            continue
        runs = await _runs(each, contexts)
        reports.append(await asyncio.to_thread(scored_collection, table, each, runs))
    return reports


async def _measured_by_spans(table: Table, prepared: Prepared, contexts: Mapping[str, Context]) -> CollectionReport:
    corpus = await open_corpus(prepared.corpus)
    prepared, evidence = await asyncio.to_thread(with_spans, prepared, corpus.embedder)
    runs = await _run(prepared, contexts, SpanSearch(contexts, table.passages))
    return await asyncio.to_thread(scored_collection, table, prepared, runs, evidence)


async def _runs(prepared: Prepared, contexts: Mapping[str, Context]) -> dict[str, Run]:
    by_passage = bool(prepared.collection.evidence)

    async def search(configuration: str, query: str) -> Found:
        hits, state = await hits_of(query, contexts[configuration], None)
        keyed = ((chunk.chunk_id if by_passage else chunk.doc_key, item["score"]) for item, chunk in hits)
        ranked = best_per_document(keyed, MOST_DOCUMENTS)
        degraded = tuple(f"{item['step']}: {item['reason']}" for item in state["degraded"])
        return Found(tuple(key for key, _ in ranked), degraded)

    return await _run(prepared, contexts, search)


async def _run(prepared: Prepared, contexts: Mapping[str, Context], search: Search) -> dict[str, Run]:
    queries = prepared.collection.queries
    with bar(f"{prepared.collection.name}: queries", len(queries)) as advance:
        return await run_queries(queries, list(contexts), search, told=advance)


def _tell(report: Report, asked: Asked) -> None:
    if asked.as_json:
        write_json(report_json(report))
    else:
        print_report(results(), report)
    for each in report.collections:
        for remark in each.remarks():
            say(notes(), f"{each.name}: {remark}.", style="yellow")
    for path in filter(None, (asked.report, asked.what.with_suffix(".md") if asked.write else None)):
        _write(report, path, asked)
    if asked.per_query is not None:
        write_whole(asked.per_query, "".join(f"{line}\n" for line in per_query_lines(report)))
    if asked.accept:
        _accept(report, asked.what)


def _write(report: Report, path: Path, asked: Asked) -> None:
    plot = path.with_suffix(".svg")
    write_whole(path, markdown_of(report, command=command_of(asked), plot=plot.name))
    write_whole(plot, plot_of(report))
    say(notes(), f"{path} and {plot} are written.")


def _accept(report: Report, path: Path) -> None:
    scores = {check.index: check.measured for check in report.checks if check.measured is not None}
    write_whole(path, with_expected(path, report.table, scores))
    say(notes(), f"{path} expects {len(scores)} scores as they were measured.")


def command_of(asked: Asked) -> str:
    """Return how to make the report again, without the names of folders, which are of one machine."""
    return f"anabranch eval {asked.what.name}{' --data DIR' if asked.is_table else ''}"


def _has_failed(report: Report, asked: Asked) -> bool:
    has_drifted = any(check.verdict == "drift" for check in report.checks) and not asked.accept
    has_missed = any(check.verdict == "missed" for check in report.margins)
    return has_drifted or has_missed or (asked.strict and bool(report.absent))
