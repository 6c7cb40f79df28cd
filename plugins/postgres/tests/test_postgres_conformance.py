"""The tests that every store has to pass, over a real PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count

import pytest
from blockbuster import blockbuster_ctx

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


class TestPostgresMetadataSample(Filled, MetadataSampleTests): ...


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
