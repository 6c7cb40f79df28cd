"""`anabranch search`: find passages, without an answer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.shared_options import (
    BaseUrlOption,
    CorpusOption,
    FilterOption,
    JsonOption,
    ModelOption,
    PassagesOption,
    SetOption,
)
from anabranch.errors import QuestionError, SettingsError


def search(
    query: Annotated[str | None, typer.Argument(metavar="QUERY", help="What to look for.")] = None,
    *,
    corpus: CorpusOption = None,
    as_json: JsonOption = False,
    k: PassagesOption = None,
    sets: SetOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    filters: FilterOption = None,
    queries: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="Many queries: lines with id and text (or question).")
    ] = None,
    run: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --queries: write a TREC run of documents there.")
    ] = None,
    run_depth: Annotated[int, typer.Option(min=1, max=1000, help="With --run: documents per query.")] = 100,
) -> None:
    r"""Search the corpus: retrieval, fusion and reranking as in ask, without an answer.

    [bold]Examples:[/]

    anabranch search "chunk sizes" -k 5

    anabranch search "chunk sizes" --json | jq -r '.\[].source'

    anabranch search "chunk sizes" --set strategy=none --set retrievers=bm25

    anabranch search --queries queries.jsonl --run run.trec --run-depth 100
    """
    from anabranch.cli.settings_options import asking_context, filters_of

    if (queries is None) != (run is None):
        msg = "--queries and --run go together."
        raise SettingsError(msg, hint="Give the file to read and the file to write.")
    is_missing = query is None or not query.strip()
    if (queries is None) == is_missing:
        msg = "There is no query." if is_missing else "--queries cannot be combined with a query."
        raise QuestionError(
            msg, hint='For example: anabranch search "chunk sizes", or --queries FILE.jsonl --run FILE.'
        )
    context = asking_context(sets, k=k, corpus=corpus, model=model, base_url=base_url)
    given = filters_of(filters)
    from anabranch.cli.search_view import show_hits, write_run

    if queries is not None and run is not None:
        asyncio.run(write_run(queries, run, context, given, depth=run_depth))
    else:
        asyncio.run(show_hits(str(query), context, given, as_json=as_json))
