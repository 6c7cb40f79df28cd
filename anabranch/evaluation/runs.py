"""Runs the queries of a collection through every configuration, a few at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from anabranch.errors import QuestionError
from anabranch.evaluation.spans import Span

AT_ONCE = 4
"""Queries under way: enough to keep a hosted model busy, few enough for a laptop."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one query found: document ids, best first, what was degraded on the way, and where its passages are."""

    documents: tuple[str, ...]
    degraded: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()


class Search(Protocol):
    """Answers one query in one configuration."""

    async def __call__(self, configuration: str, query: str) -> Found:
        """Return the documents that it finds.

        Raises:
            QuestionError: The query cannot be searched for.
        """
        ...


@dataclass(slots=True)
class Run:
    """What one configuration found.

    Attributes:
        rankings: Document ids by query, best first.
        refused: Why queries could not be searched for, by query; they found nothing.
        degraded: How many queries each degradation happened to.
        spans: Passages by query, best first, where they are measured by.
    """

    rankings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    degraded: Counter[str] = field(default_factory=Counter)
    spans: dict[str, tuple[Span, ...]] = field(default_factory=dict)


async def run_queries(
    queries: Mapping[str, str],
    configurations: Sequence[str],
    search: Search,
    *,
    told: Callable[[], None] | None = None,
    at_once: int = AT_ONCE,
) -> dict[str, Run]:
    """Search every query in every configuration.

    One query goes through all configurations before the next begins, so that it is embedded once.

    Args:
        queries: Text by id.
        configurations: Their names.
        search: How to search.
        told: Called after each query.
        at_once: How many queries are under way at any time.
    """
    runs = {name: Run() for name in configurations}
    waiting = iter(queries.items())

    async def work(waiting: Iterator[tuple[str, str]]) -> None:
        for key, text in waiting:
            for name in configurations:
                await _searched(runs[name], key, text, search, name)
            if told is not None:
                told()

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work(waiting))
    return {name: _in_order(run, queries) for name, run in runs.items()}


async def _searched(run: Run, key: str, text: str, search: Search, configuration: str) -> None:
    try:
        found = await search(configuration, text)
    except QuestionError as error:
        # A person would be told so, and get no passage; the score of that is 0.
        run.refused[key] = error.message
        run.rankings[key] = ()
        return
    run.rankings[key] = found.documents
    if found.spans:
        run.spans[key] = found.spans
    run.degraded.update(set(found.degraded))


def _in_order(run: Run, queries: Mapping[str, str]) -> Run:
    """Put what came in any order into that of the queries, so that two runs give the same report."""
    refused = {key: run.refused[key] for key in queries if key in run.refused}
    rankings = {key: run.rankings[key] for key in queries}
    return Run(rankings, refused, Counter(dict(sorted(run.degraded.items()))), run.spans)
