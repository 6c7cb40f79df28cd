"""Runs the queries of a collection through every configuration, and writes TREC run files.

A run file has lines of `qid Q0 docid rank score tag`, one ranked document each. Evaluators disagree on what orders a
run: trec_eval and pytrec_eval ignore the rank and sort by score, held in 32 bits, ties by document id. So a run is
written with scores that still fall strictly after rounding to 32 bits.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

import numpy as np

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


TAG = "anabranch"

_SPACE = re.compile(r"\s")
_UNSAFE = re.compile(r"[\s%]")


def best_per_document(ranked: Iterable[tuple[str, float]], depth: int) -> list[tuple[str, float]]:
    """Return one entry per document, best first: a document counts as much as its best passage."""
    best: dict[str, float] = {}
    for document, score in ranked:
        best.setdefault(document, score)
        if len(best) == depth:
            break
    return list(best.items())


def run_lines(query: str, ranked: Iterable[tuple[str, float]]) -> Iterator[str]:
    """Yield the lines of one query, ranks from 1, scores strictly falling in 32-bit precision.

    White space would shift the columns: in a document id it is percent-encoded (`my notes.md` becomes `my%20notes.md`).

    Raises:
        QuestionError: The query id is empty or holds white space; no reader could match it.
    """
    check_query_id(query)
    previous = np.float32(np.inf)
    for rank, (document, given) in enumerate(ranked, start=1):
        # trec_eval holds scores in 32 bits: two that differ in 64 would tie there, and be ordered by id.
        score = min(np.float32(given), np.nextafter(previous, np.float32(-np.inf), dtype=np.float32))
        previous = score
        yield f"{query} Q0 {document_id(document)} {rank} {np.format_float_positional(score, unique=True)} {TAG}"


def check_query_id(query: str) -> None:
    """Refuse a query id that a run file cannot hold."""
    if not query or _SPACE.search(query):
        msg = f"The query id {query!r} is empty or holds white space, which a TREC run cannot hold."
        raise QuestionError(msg, hint="Rename it in the queries and in the judgements.")


def document_id(document: str) -> str:
    """Return a document id as a run holds it: as it is, unless it has white space."""
    return _UNSAFE.sub(lambda found: quote(found[0]), document) if _SPACE.search(document) else document
