"""The tests that every store has to pass, over a copy of a published folder, and over one on S3."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from anabranch.readers.document import Document
from anabranch.store.protocol import CorpusReader, Outlines, Scope
from anabranch.store.records import content_digest, digest_of
from anabranch.store.stores import open_corpus, open_writer
from anabranch.store.writer_protocol import Summary, SummaryWriter
from anabranch_conformance import (
    FullScoresTests,
    MetadataSampleTests,
    OriginalsTests,
    OutlinesTests,
    ReaderTests,
    TermStatisticsTests,
)
from anabranch_conformance.corpus_contents import DOCUMENTS, keep_facts, note, take_in
from anabranch_copies.replica.replica_publisher import publish_replica
from anabranch_copies.replica.replica_store import forget
from plugins.copies.tests.replica.conftest import cache_at


class Copied:
    @pytest.fixture(autouse=True)
    async def _nothing_blocks_the_loop(self) -> AsyncIterator[None]:
        with blockbuster_ctx():
            yield


def copied(folder: Path, target: str) -> CorpusReader:
    """Return the corpus, published twice: a copy of the first generation became one of the second."""
    origin = folder / "origin"
    with cache_at(folder / "cache"):
        write(origin, {"/gone": [note("gone", "Gone", "The ferry was sold.")], **files(3)})
        publish_replica(origin, target)
        first = asyncio.run(open_corpus(target))
        write(origin, {"/gone": [], **files(len(DOCUMENTS))})
        publish_replica(origin, target)
        forget(target)  # else the copy is followed beside the questions
        second = asyncio.run(open_corpus(target))
    assert second.generation > first.generation
    return second


def files(most: int) -> dict[str, list]:
    return {f"/{document.source}": [document] for document in DOCUMENTS[:most]}


def write(origin: Path, contents: dict[str, list]) -> None:
    with open_writer(origin) as writer:
        keep_facts(writer)
        take_in(writer, contents)
        writer.publish()


@pytest.fixture(scope="module")
def of_folder(tmp_path_factory: pytest.TempPathFactory) -> CorpusReader:
    folder = tmp_path_factory.mktemp("folder")
    return copied(folder, (folder / "published").as_uri())


@pytest.fixture(scope="module")
def of_bucket(tmp_path_factory: pytest.TempPathFactory, bucket: str) -> CorpusReader:
    return copied(tmp_path_factory.mktemp("bucket"), f"{bucket}/conformance")


class Folder(Copied):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, of_folder: CorpusReader) -> CorpusReader:
        return of_folder


class TestFolderCopyReader(Folder, ReaderTests): ...


class TestFolderCopyFullScores(Folder, FullScoresTests): ...


class TestFolderCopyOriginals(Folder, OriginalsTests): ...


class TestFolderCopyMetadataSample(Folder, MetadataSampleTests): ...


class TestFolderCopyOutlines(Folder, OutlinesTests): ...


class TestFolderCopyTermStatistics(Folder, TermStatisticsTests): ...


@pytest.mark.loopback
class Bucket(Copied):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, of_bucket: CorpusReader) -> CorpusReader:
        return of_bucket


@pytest.mark.loopback
class TestBucketCopyReader(Bucket, ReaderTests): ...


@pytest.mark.loopback
class TestBucketCopyOriginals(Bucket, OriginalsTests): ...


def test_a_copy_has_the_summaries_of_its_generation(tmp_path: Path) -> None:
    origin, target = tmp_path / "origin", (tmp_path / "published").as_uri()
    weir, mill = DOCUMENTS[:2]

    def summaries_after(contents: dict[str, list], *summaries: Summary) -> dict[str, str]:
        with open_writer(origin) as writer:
            keep_facts(writer)
            take_in(writer, contents)
            assert isinstance(writer, SummaryWriter)
            writer.keep_summaries(summaries)
            writer.publish()
        publish_replica(origin, target)
        forget(target)
        store = asyncio.run(open_corpus(target))
        assert isinstance(store, Outlines)
        return {one.title: one.summary for one in asyncio.run(store.outlines(Scope(), 10)) if one.summary}

    def written(document: Document, text: str) -> Summary:
        return Summary(digest_of(document.source), content_digest(document), text)

    with cache_at(tmp_path / "cache"):
        assert summaries_after(files(2)) == {}
        # No document has changed, and yet there is another generation.
        assert summaries_after({}, written(weir, "A weir."), written(mill, "A mill.")) == {
            "The weir": "A weir.",
            "The mill": "A mill.",
        }
        assert summaries_after({}, written(weir, "Of 1848.")) == {"The weir": "Of 1848.", "The mill": "A mill."}
        changed = note("mill", "The mill", "The mill burnt down.")
        assert summaries_after({f"/{mill.source}": [changed]}) == {"The weir": "Of 1848."}
        assert summaries_after({}, written(changed, "A fire.")) == {"The weir": "Of 1848.", "The mill": "A fire."}
        # Taken in from another file, the document is written anew with the same words, and keeps its summary.
        moved = {f"/{weir.source}": [], "/moved": [weir]}
        assert summaries_after(moved) == {"The weir": "Of 1848.", "The mill": "A fire."}
