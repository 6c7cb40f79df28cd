"""Documents on their way into the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from anabranch.chunking.hierarchical_chunker import grow
from anabranch.ingestion import write_batch as module
from anabranch.ingestion.ingest_report import IngestReport
from anabranch.ingestion.write_batch import Batch
from anabranch.models.wordpiece_tokenizer import WordPieces
from anabranch.readers.document import Block, Document
from anabranch.store.corpus_embedder import EMBEDDED_LEAVES
from anabranch.store.local_store import LocalWriter
from anabranch.store.records import Grown, digest_of
from anabranch.store.writer_protocol import FileRecord, WriteResult
from tests.ingestion.ingest_runs import SIZES, Recording, silent

TOKENS = WordPieces()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[LocalWriter]:
    with closing(LocalWriter(tmp_path)) as writer:
        yield writer


@pytest.fixture
def batch(writer: LocalWriter) -> Batch:
    return Batch(writer, Recording(), IngestReport(), silent)


def grown(source: str, *texts: str) -> Grown:
    document = Document(source, "", tuple(Block(text) for text in texts))
    return Grown(document, grow(document, TOKENS, SIZES), "digest", f"/{source}")


def record(source: str) -> FileRecord:
    return FileRecord(f"/{source}", source, "hash", ())


def commit(batch: Batch) -> tuple[list[FileRecord], WriteResult]:
    batch.embed()
    return batch.write()


def test_documents_are_there_when_their_file_is(writer: LocalWriter, batch: Batch) -> None:
    writer.see("/a", digest_of("a"))
    batch.add(grown("a", "Herons fish."))
    assert writer.all("SELECT * FROM documents") == []
    batch.finish(record("a"))
    assert commit(batch) == ([record("a")], WriteResult({"/a": 0}, []))
    assert writer.counts("/a") == (1, 3)
    assert len(writer.all("SELECT * FROM documents")) == 1
    assert commit(batch) == ([], WriteResult({}, []))


def test_it_is_full_by_leaves_or_by_files(batch: Batch) -> None:
    words = " ".join(f"word{number}." for number in range(16))
    while not batch.is_full:
        batch.add(grown(f"d{batch._leaves}", words))
    assert batch._leaves >= module.WAITING_LEAVES
    commit(batch)
    assert not batch.is_full
    for number in range(1000):
        batch.finish(record(str(number)))
    assert batch.is_full


def test_vectors_are_looked_up_once_for_all_documents(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[list[str]] = []
    missing = batch.writer.missing_vectors

    def missing_vectors(texts: list[str], embedder: str) -> dict[str, str]:
        looked_up.append(texts)
        return missing(texts, embedder)

    for name in "abc":
        batch.add(grown(name, f"Herons fish in {name}."))
    batch.embed()
    monkeypatch.setattr(batch.writer, "missing_vectors", missing_vectors)
    batch.write()
    # A store on a server is a wait away, and few documents are long.
    assert [len(texts) for texts in looked_up] == [3]


def test_leaves_are_embedded_by_length_a_number_at_a_time_and_each_text_once(batch: Batch) -> None:
    texts = [f"{'la ' * (number % 7)}{number % 90}" for number in range(100)]
    for number, text in enumerate(texts):
        batch.add(grown(str(number), text))
    commit(batch)
    embedder = batch.embedder
    assert isinstance(embedder, Recording)
    assert [len(part) for part in embedder.batches] == [
        EMBEDDED_LEAVES,
        len(set(texts)) - EMBEDDED_LEAVES,
    ]
    lengths = [len(text) for part in embedder.batches for text in part]
    assert lengths == sorted(lengths)
    assert batch.report.embedded == len(set(texts))


def test_rows_of_tables_are_embedded_without_their_amounts_and_keep_them_in_the_corpus(
    writer: LocalWriter, batch: Batch
) -> None:
    batch.add(grown("a", "| Umsatz | 2021 | 3.208 € |"))
    commit(batch)
    assert isinstance(batch.embedder, Recording)
    assert batch.embedder.batches == [["Umsatz | 2021"]]
    ((text,),) = writer.all("SELECT text FROM chunks WHERE level = 2")
    assert text == "| Umsatz | 2021 | 3.208 € |"


def test_new_stamps_leave_the_documents_alone(
    writer: LocalWriter, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.see("/a", digest_of("a"))
    batch.add(grown("a", "Herons fish."))
    batch.finish(record("a"))
    commit(batch)
    batch.refresh(record("a")._replace(stamp="new"))
    commit(batch)
    known = writer.file("/a")
    assert known is not None
    assert known.stamp == "new"
    assert writer.counts("/a") == (1, 3)
    monkeypatch.setattr(module, "_MOST_RECORDS", 1)
    batch.refresh(record("a")._replace(stamp="newer"))
    known = writer.file("/a")
    assert known is not None
    assert known.stamp == "newer"


def test_a_document_that_cannot_be_stored_costs_itself(writer: LocalWriter, batch: Batch) -> None:
    bad = Document("b", "caf\udce9", (Block("Swifts sleep in the air."),))
    for document in (grown("a", "Herons fish."), Grown(bad, grow(bad, TOKENS, SIZES), "digest", "/b")):
        writer.see(document.path, digest_of(document.document.source))
        batch.add(document)
    batch.finish(record("a"))
    batch.finish(record("b"))
    finished, result = commit(batch)
    assert finished == [record("a"), record("b")]
    assert [refused.path for refused, _ in result.refused] == ["/b"]
    assert [writer.counts(path) for path in ("/a", "/b")] == [(1, 3), (0, 0)]
    assert [source for (source,) in writer.all("SELECT source FROM documents")] == ["a"]
    known = writer.file("/b")
    assert known is not None
    assert known.sha256 == ""  # read again by the next run


def test_it_is_full_by_time(writer: LocalWriter) -> None:
    now = [100.0]
    batch = Batch(writer, Recording(), IngestReport(), silent, clock=lambda: now[0])
    now[0] += module.WAITING_SECONDS
    assert not batch.is_full  # with nothing to commit
    batch.add(grown("a", "Herons fish."))
    assert batch.is_full  # reading it took so long
    commit(batch)
    batch.add(grown("b", "Swifts sleep."))
    assert not batch.is_full
    now[0] += module.WAITING_SECONDS
    assert batch.is_full


def test_what_was_embedded_when_it_was_stopped_is_kept(writer: LocalWriter, batch: Batch) -> None:
    for name, text in (("a", "Short."), ("b", " ".join(f"Word {n}." for n in range(4000)))):
        writer.see(f"/{name}", digest_of(name))
        batch.add(grown(name, text))
        batch.finish(record(name))
    batch.progress = interrupting
    with pytest.raises(KeyboardInterrupt):
        commit(batch)
    batch.progress = silent
    embedded = batch.report.embedded
    assert batch.write() == ([record("a")], WriteResult({"/a": 0}, []))
    assert writer.counts("/a") == (1, 3)
    assert batch.report.embedded == embedded
    assert writer.all("SELECT source FROM documents") == [("a",)]
    assert writer.all("SELECT path FROM files") == [("/a",)]


def interrupting(stage: str, done: int, total: int, detail: str = "") -> None:
    raise KeyboardInterrupt
