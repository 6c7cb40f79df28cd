"""Runs the queries of a collection through every configuration."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from anabranch.errors import QuestionError

# Concurrent queries: enough to keep a hosted model busy, few enough for a laptop.
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """The result of one query: document ids, best first, and degradations."""

    documents: tuple[str, ...]
    degraded: tuple[str, ...] = ()


SearchFunction = Callable[[str, str], Awaitable[FoundDocuments]]
"""Searches for a query in a configuration; a QuestionError means that the query cannot be searched for."""


@dataclass(slots=True)
class Run:
    """The results of one configuration.

    Attributes:
        rankings: Document ids by query, best first.
        refused: Reasons why queries were refused, by query; their rankings are empty.
        degraded: Number of queries by degradation.
    """

    rankings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    degraded: Counter[str] = field(default_factory=Counter)


async def run_queries(
    queries: Mapping[str, str],
    configurations: Sequence[str],
    search: SearchFunction,
    *,
    advance: Callable[[], None] | None = None,
    at_once: int = AT_ONCE,
) -> dict[str, Run]:
    """Search every query in every configuration.

    One query goes through all configurations before the next begins, so that it is embedded once.

    Args:
        queries: Text by id.
        configurations: Their names.
        search: The function that searches.
        advance: Called after each query.
        at_once: Number of concurrent queries.
    """
    runs = {name: Run() for name in configurations}
    # All workers share one iterator of queries.
    waiting = iter(queries.items())

    async def work(waiting: Iterator[tuple[str, str]]) -> None:
        for key, text in waiting:
            # The query's vector is still cached for the next configuration.
            for name in configurations:
                await _search(runs[name], key, text, search, name)
            if advance is not None:
                advance()

    # Any other failure ends the run, because partial scores would look complete.
    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work(waiting))
    return {name: _in_query_order(run, queries) for name, run in runs.items()}


async def _search(run: Run, key: str, text: str, search: SearchFunction, configuration: str) -> None:
    try:
        found = await search(configuration, text)
    except QuestionError as error:
        # A person would get this error and no passage, so the score is 0.
        run.refused[key] = error.message
        run.rankings[key] = ()
        return
    run.rankings[key] = found.documents
    run.degraded.update(set(found.degraded))


def _in_query_order(run: Run, queries: Mapping[str, str]) -> Run:
    """Sort the results in the order of the queries, so that two runs give the same report."""
    refused = {key: run.refused[key] for key in queries if key in run.refused}
    rankings = {key: run.rankings[key] for key in queries}
    return Run(rankings, refused, Counter(dict(sorted(run.degraded.items()))))
