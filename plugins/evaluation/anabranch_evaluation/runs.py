"""Runs the queries of a collection through every configuration."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from anabranch.errors import QuestionError

# Queries under way: enough to keep a hosted model busy, few enough for a laptop.
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """What one query found: document ids, best first, and what was degraded on the way."""

    documents: tuple[str, ...]
    degraded: tuple[str, ...] = ()


SearchFunction = Callable[[str, str], Awaitable[FoundDocuments]]
"""Searches in a configuration for a query; a QuestionError of it means that this one cannot be searched for."""


@dataclass(slots=True)
class Run:
    """What one configuration found.

    Attributes:
        rankings: Document ids by query, best first.
        refused: Why queries could not be searched for, by query; they found nothing.
        degraded: How many queries each degradation happened to.
    """

    rankings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    degraded: Counter[str] = field(default_factory=Counter)


async def run_queries(
    queries: Mapping[str, str],
    configurations: Sequence[str],
    search: SearchFunction,
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
    # One iterator for all workers: who is done first takes the next query.
    waiting = iter(queries.items())

    async def work(waiting: Iterator[tuple[str, str]]) -> None:
        for key, text in waiting:
            # Query by query: its vector is still known when the next configuration asks for it.
            for name in configurations:
                await _searched(runs[name], key, text, search, name)
            if told is not None:
                told()

    # Any other failure ends the run: scores of half the queries would look like scores of all.
    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work(waiting))
    return {name: _in_order(run, queries) for name, run in runs.items()}


async def _searched(run: Run, key: str, text: str, search: SearchFunction, configuration: str) -> None:
    try:
        found = await search(configuration, text)
    except QuestionError as error:
        # A person would be told so, and get no passage; the score of that is 0.
        run.refused[key] = error.message
        run.rankings[key] = ()
        return
    run.rankings[key] = found.documents
    run.degraded.update(set(found.degraded))


def _in_order(run: Run, queries: Mapping[str, str]) -> Run:
    """Put what came in any order into that of the queries, so that two runs give the same report."""
    refused = {key: run.refused[key] for key in queries if key in run.refused}
    rankings = {key: run.rankings[key] for key in queries}
    return Run(rankings, refused, Counter(dict(sorted(run.degraded.items()))))
