"""The tests that every store has to pass, over a real PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count

import pytest
from blockbuster import blockbuster_ctx

from anabranch.store.protocol import MetadataSample, Scope
from anabranch_conformance import (
    FullScoresTests,
    MetadataSampleTests,
    OriginalsTests,
    OutlinesTests,
    ReaderTests,
    SummaryTests,
    TermStatisticsTests,
    WriterTests,
)
from anabranch_conformance.corpus_contents import DOCUMENTS, EVERYTHING
from anabranch_postgres import postgres_passages

pytestmark = pytest.mark.loopback

_numbers = count()


class Filled:
    @pytest.fixture(autouse=True)
    async def _nothing_blocks_the_loop(self) -> AsyncIterator[None]:
        with blockbuster_ctx():
            yield

    @pytest.fixture(scope="class")
    @classmethod
    def address(cls, database: str) -> str:
        return f"{database}#filled-{next(_numbers)}"


class TestPostgresReader(Filled, ReaderTests): ...


class TestPostgresFullScores(Filled, FullScoresTests): ...


class TestPostgresOriginals(Filled, OriginalsTests): ...


class TestPostgresMetadataSample(Filled, MetadataSampleTests):
    async def test_who_may_read_few_has_no_more_looked_at(
        self, store: MetadataSample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(postgres_passages, "LOOKED_AT", 1)
        assert len(await store.sample_metadata(EVERYTHING, 3)) == 3
        alone = [Scope(EVERYTHING.access, {"source": document.source}) for document in DOCUMENTS]
        assert [len(await store.sample_metadata(each, 3)) for each in alone].count(1) == 3


class TestPostgresOutlines(Filled, OutlinesTests): ...


class TestPostgresTermStatistics(Filled, TermStatisticsTests): ...


class TestPostgresWriter(WriterTests):
    @pytest.fixture
    def address(self, corpus: str) -> str:
        return corpus


class TestPostgresSummaries(SummaryTests):
    @pytest.fixture
    def address(self, corpus: str) -> str:
        return corpus
