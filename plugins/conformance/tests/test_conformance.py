"""The tests that every store has to pass, over the two that are built in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from anabranch.store import passage_reader
from anabranch.store.memory import forget
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


class NothingBlocks:
    @pytest.fixture(autouse=True)
    async def _nothing_blocks_the_loop(self) -> AsyncIterator[None]:
        with blockbuster_ctx():
            yield


class Folder(NothingBlocks):
    @pytest.fixture(scope="class")
    @classmethod
    def address(cls, tmp_path_factory: pytest.TempPathFactory) -> str:
        return str(tmp_path_factory.mktemp("corpus") / "c")


class Memory(NothingBlocks):
    @pytest.fixture(scope="class")
    @classmethod
    def address(cls) -> Iterator[str]:
        yield "memory:conformance"
        forget("memory:conformance")


class TestFolderReader(Folder, ReaderTests): ...


class TestFolderFullScores(Folder, FullScoresTests): ...


class TestFolderOriginals(Folder, OriginalsTests): ...


class TestFolderMetadataSample(Folder, MetadataSampleTests):
    async def test_who_may_read_few_has_no_more_looked_at(
        self, store: MetadataSample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(passage_reader, "LOOKED_AT", 1)
        assert len(await store.sample_metadata(EVERYTHING, 3)) == 3
        alone = [Scope(EVERYTHING.access, {"source": document.source}) for document in DOCUMENTS]
        assert [len(await store.sample_metadata(each, 3)) for each in alone].count(1) == 3


class TestFolderOutlines(Folder, OutlinesTests): ...


class TestFolderTermStatistics(Folder, TermStatisticsTests): ...


class TestMemoryReader(Memory, ReaderTests): ...


class TestMemoryFullScores(Memory, FullScoresTests): ...


class TestMemoryOriginals(Memory, OriginalsTests): ...


class TestMemoryMetadataSample(Memory, MetadataSampleTests): ...


class TestMemoryOutlines(Memory, OutlinesTests): ...


class TestMemoryTermStatistics(Memory, TermStatisticsTests): ...


class TestFolderWriter(WriterTests):
    @pytest.fixture
    def address(self, tmp_path: Path) -> str:
        return f"file:{tmp_path / 'c'}"


class TestMemoryWriter(WriterTests):
    @pytest.fixture
    def address(self) -> Iterator[str]:
        yield "memory:writing"
        forget("memory:writing")


class TestFolderSummaries(SummaryTests):
    @pytest.fixture
    def address(self, tmp_path: Path) -> str:
        return f"file:{tmp_path / 'c'}"


class TestMemorySummaries(SummaryTests):
    @pytest.fixture
    def address(self) -> Iterator[str]:
        yield "memory:summaries"
        forget("memory:summaries")
