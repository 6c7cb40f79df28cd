"""How often a question waits for the database; across a network that is what takes the time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, urlsplit

import pytest

from anabranch.retrieval.fusion.missing_scores import complete_lists
from anabranch.store.protocol import RankedList, Scope
from anabranch.store.stores import open_corpus
from anabranch.types import Query, Retrieved
from anabranch_conformance.corpus_contents import EVERYTHING
from anabranch_postgres import postgres_index, postgres_reader
from anabranch_postgres.postgres_reader import PostgresReader
from plugins.postgres.tests.counting_proxy import Way, counted
from plugins.postgres.tests.test_postgres_corpus import fill

pytestmark = pytest.mark.loopback

QUERIES = ["when was the weir built", "what does the miller earn", "how do bees tell where clover is"]


@pytest.fixture
def way(database: str) -> Iterator[tuple[Way, str]]:
    """Yield a counted way to the database, and its address by that way."""
    host = parse_qs(urlsplit(database).query)["host"][0]
    with TemporaryDirectory(prefix="anabranch-") as folder, counted(Path(host), Path(folder)) as way:
        yield way, database.replace(host, folder)


async def retrieved(store: PostgresReader, queries: Sequence[str], scope: Scope) -> list[RankedList]:
    """Ask as the steps `retrieve` and `fuse` do; return the complete lists."""
    lists = await asyncio.gather(*(store.search(arm, queries, 50, scope) for arm in ("bm25", "dense")))
    records = [
        Retrieved(retriever=arm, lists=found, error=None) for arm, found in zip(("bm25", "dense"), lists, strict=True)
    ]
    asked = [Query(text=text, weight=1.0, kind="asked") for text in queries]
    records, weighed = await complete_lists(store, scope, asked, records)
    assert len(weighed) == len(queries)
    return [found for record in records for found in record["lists"]]


@pytest.mark.parametrize("queries", [QUERIES[:1], QUERIES])
@pytest.mark.parametrize("scope", [Scope(), Scope(access=("staff",), filters={"year": {"gte": 1800}})])
@pytest.mark.parametrize("narrow", [5_000, 2])
def test_a_question_waits_twice(
    corpus: str, way: tuple[Way, str], queries: list[str], scope: Scope, narrow: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter, address = way
    for module in (postgres_index, postgres_reader):
        monkeypatch.setattr(module, "NARROW", narrow)
    fill(corpus)

    async def waits() -> tuple[list[int], list[RankedList]]:
        store = await open_corpus(f"{address}#{corpus.partition('#')[2]}")
        assert isinstance(store, PostgresReader)
        await retrieved(store, queries, scope)  # connects, and counts what is in scope
        counts = []
        for _ in range(5):
            before = counter.waits
            found = await retrieved(store, queries, scope)
            counts.append(counter.waits - before)
        return counts, found

    counts, found = asyncio.run(waits())
    # One for each retriever, side by side, and one for all scores. Where the index brings fewer than were asked for, as
    # it does in a corpus of fewer than 50 passages, all vectors are compared after it.
    # The fewest of some questions: one during which the pool connects anew waits for that, too.
    assert min(counts) == (4 if narrow == 2 and scope == Scope() else 3)
    assert all(ranked["ids"] for ranked in found[:1])


def test_passages_and_what_is_around_them_wait_once_each(corpus: str, way: tuple[Way, str]) -> None:
    counter, address = way
    fill(corpus)

    async def waits() -> list[int]:
        store = await open_corpus(f"{address}#{corpus.partition('#')[2]}")
        assert isinstance(store, PostgresReader)
        (ids,) = [found["ids"] for found in await store.search("bm25", ["weir mill"], 9, EVERYTHING)]
        documents = [chunk.doc_id for chunk in (await store.chunks(ids, EVERYTHING)).values()]
        counts = []
        calls: list[Awaitable[object]] = [
            store.chunks(ids, EVERYTHING), store.outlines(EVERYTHING, 9),
            store.leaves(documents, EVERYTHING, 9), store.originals(documents, EVERYTHING),
            store.places([(each, 0) for each in documents], EVERYTHING), store.idf(["weir"], EVERYTHING),
            store.occurring(["weir", "mill"], ids, EVERYTHING), store.info(),
        ]  # fmt: skip
        for call in calls:
            before = counter.waits
            assert await call
            counts.append(counter.waits - before)
        return counts

    counts = asyncio.run(waits())
    assert counts == [1] * 8
