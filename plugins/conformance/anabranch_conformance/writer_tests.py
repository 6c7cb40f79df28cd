"""What an ingest relies on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from anabranch.errors import CorpusEmptyError, CorpusLockedError, SettingsError
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder
from anabranch.store.protocol import CorpusReader, Scope
from anabranch.store.records import content_digest, digest_of
from anabranch.store.stored_document import find_fault
from anabranch.store.stores import open_corpus, open_snapshot, open_writer
from anabranch.store.writer_protocol import CorpusWriter
from anabranch_conformance.corpus_contents import EVERYTHING, keep_facts, keys, note, take_in

WEIR = note("weir", "The weir", "The weir was built in 1848.")
MILL = note("mill", "The mill", "The mill grinds corn.")

CHANGED: dict[str, Any] = {
    "path": "/note", "key": "weis", "digest": "0", "metadata": '{"b": [1e16]}', "access": '["staff"]', "tokens": 99,
    "pages": "[[0, 9]]", "title": "The wein", "source": "notes.jsonl#weis",
}  # fmt: skip


def reader(address: str) -> CorpusReader:
    """Open the corpus."""
    return asyncio.run(open_corpus(address))


def find_keys(store: CorpusReader, query: str, scope: Scope = EVERYTHING) -> set[str]:
    """Return the keys of the documents that BM25 finds."""

    async def search() -> set[str]:
        (ranked,) = await store.search("bm25", [query], 10, scope)
        return set(await keys(store, ranked["ids"], scope))

    return asyncio.run(search())


class WriterTests:
    """What an ingest relies on; each test has a corpus of its own, with `WEIR` and `MILL` in one file."""

    @pytest.fixture
    def address(self) -> str:
        """Return the address of a corpus that is not there yet, another one for each test; to be overridden."""
        raise NotImplementedError

    @pytest.fixture
    def writer(self, address: str) -> Iterator[CorpusWriter]:
        """Hold the one writer."""
        with open_writer(address) as writer:
            keep_facts(writer)
            take_in(writer, {"/notes": [WEIR, MILL]})
            writer.publish()
            yield writer

    def test_a_new_corpus_is_empty(self, address: str) -> None:
        with open_writer(address) as writer:
            assert writer.is_empty()
            assert writer.dimension() == 0
            assert (writer.meta("embedder"), writer.file("/notes"), list(writer.files())) == (None, None, [])
            keep_facts(writer)
            writer.publish()
        with pytest.raises(CorpusEmptyError):
            reader(address)

    def test_a_document_shows_that_it_is_what_was_written(self, address: str, writer: CorpusWriter) -> None:
        odd = {"b": [1e16, 1e300, -0.0, 1.50, 1e-7, 12345678901234567890], "a": {"ü": None, "x": True}}
        take_in(writer, {"/notes": [WEIR, MILL, note("odd", "Odd", "A weir of numbers.", ["staff", "board"], **odd)]})
        try:
            snapshot = open_snapshot(address)
        except SettingsError:
            pytest.skip("this store cannot be read as a whole, nor verified")
        with snapshot as rows:
            documents = list(rows.documents())
        assert [each.fault for each in documents] == [None, None, None]
        for _, row, chunks, _ in documents:
            assert row is not None
            for name, value in CHANGED.items():
                assert getattr(row, name) != value
                assert find_fault(row._replace(**{name: value}), chunks) is not None
            for place, chunk in enumerate(chunks):
                others = [*chunks[:place], chunk._replace(page=7), *chunks[place + 1 :]]
                assert find_fault(row, others) is not None

    def test_what_was_written_is_known(self, address: str, writer: CorpusWriter) -> None:
        assert not writer.is_empty()
        assert writer.dimension() == load_embedder(DEFAULT_EMBEDDER).dimension
        (record,) = writer.files()
        assert record == writer.file("/notes")
        assert (record.path, record.source, record.sha256, record.access) == (
            "/notes",
            "notes",
            digest_of("/notes"),
            (),
        )
        assert writer.counts("/notes") == (2, 6)
        assert writer.counts("/others") == (0, 0)
        assert writer.origin(WEIR.source) == "/notes"
        assert writer.origin("nobody") is None
        doc_id = digest_of(WEIR.source)
        assert writer.holds(doc_id, content_digest(WEIR), "/notes")
        assert not writer.holds(doc_id, content_digest(MILL), "/notes")
        assert not writer.holds(doc_id, content_digest(WEIR), "/others")
        assert find_keys(reader(address), "weir") == {"weir"}

    def test_facts_outlive_the_writer(self, address: str) -> None:
        with open_writer(address) as writer:
            keep_facts(writer)
            writer.keep_meta({"base_url": "http://127.0.0.1"})
        with open_writer(address) as writer:
            assert (writer.meta("base_url"), writer.meta("language")) == ("http://127.0.0.1", "english")

    def test_a_text_is_embedded_once(self, writer: CorpusWriter) -> None:
        embedder = writer.meta("embedder") or ""
        texts = ["The weir\nThe weir was built in 1848.", "new", "new"]
        assert list(writer.missing_vectors(texts, embedder).values()) == ["new"]
        assert len(writer.missing_vectors(texts, "another")) == 2

    def test_a_document_is_seen_once_in_a_run(self, writer: CorpusWriter) -> None:
        assert writer.see("/file", "a")
        assert not writer.see("/file", "a")
        assert writer.see("/other", "a")

    def test_what_a_file_does_not_hold_any_more_is_removed(self, address: str, writer: CorpusWriter) -> None:
        before = reader(address)
        assert take_in(writer, {"/notes": [MILL]}).removed == {"/notes": 1}
        assert find_keys(before, "weir") == set()  # at once, also to who opened it before
        writer.publish()
        assert (find_keys(reader(address), "weir"), find_keys(reader(address), "mill")) == (set(), {"mill"})

    def test_of_a_file_that_was_not_read_to_its_end_nothing_is_removed(self, writer: CorpusWriter) -> None:
        (record,) = writer.files()
        assert writer.write([], [record.unread()]).removed == {"/notes": 0}
        assert writer.counts("/notes") == (2, 6)
        again = writer.file("/notes")
        assert again is not None
        assert again.sha256 == ""

    def test_a_document_is_replaced_under_its_name(self, address: str, writer: CorpusWriter) -> None:
        other = note("weir", "The weir", "The sluice was built in 1901.", ["board"])
        take_in(writer, {"/notes": [other, MILL]})
        writer.publish()
        store = reader(address)
        assert find_keys(store, "1901") == {"weir"}
        assert find_keys(store, "1901", Scope()) == set()
        assert find_keys(store, "1848") == set()

    def test_tags_count_at_once(self, address: str, writer: CorpusWriter) -> None:
        before = reader(address)
        assert find_keys(before, "weir", Scope()) == {"weir"}
        take_in(writer, {"/notes": [note("weir", "The weir", "The weir was built in 1848.", ["board"]), MILL]})
        assert find_keys(before, "weir", Scope()) == set()

    def test_the_tags_of_a_file_are_those_of_its_documents_as_well(self, writer: CorpusWriter) -> None:
        assert writer.tags("/notes") == frozenset()
        take_in(writer, {"/notes": [note("weir", "The weir", "The weir was built in 1848.", ["board", "hr"]), MILL]})
        (kept,) = (file for file in writer.files() if file.path == "/notes")
        writer.write([], [kept._replace(access=("staff",), complete=False)])
        assert writer.tags("/notes") == {"board", "hr", "staff"}
        assert writer.tags("/nobody") == frozenset()

    def test_a_file_is_removed_with_its_documents(self, address: str, writer: CorpusWriter) -> None:
        take_in(writer, {"/pike": [note("pike", "Pike", "The pike hunts.")]})
        assert writer.remove_file("/notes") == 2
        assert writer.remove_file("/nobody") == 0
        assert [file.path for file in writer.files()] == ["/pike"]
        writer.publish()
        assert (find_keys(reader(address), "weir"), find_keys(reader(address), "pike")) == (set(), {"pike"})

    def test_documents_have_the_names_that_people_give_them(self, writer: CorpusWriter) -> None:
        take_in(writer, {"/pike": [note("pike", "Pike", "The pike hunts.")]})
        mill, weir, pike = (digest_of(f"notes.jsonl#{key}") for key in ("mill", "weir", "pike"))
        assert writer.named(MILL.source) == [mill]
        assert set(writer.named("notes")) == {mill, weir}  # their file
        assert set(writer.named("notes.jsonl#[mp]*")) == {mill, pike}
        for nobody in ("nobody", "*.pdf", "[", ""):
            assert writer.named(nobody) == []

    def test_documents_are_removed_and_their_file_is_read_again(self, address: str, writer: CorpusWriter) -> None:
        before = reader(address)
        assert writer.remove_documents([digest_of(WEIR.source), digest_of("nobody")]) == 1
        assert find_keys(before, "weir") == set()  # at once
        writer.publish()
        assert (find_keys(reader(address), "weir"), find_keys(reader(address), "mill")) == (set(), {"mill"})
        record = writer.file("/notes")
        assert record is not None
        assert record.sha256 == ""
        assert writer.remove_documents([]) == 0

    def test_a_reader_stays_until_there_is_another_state(self, address: str, writer: CorpusWriter) -> None:
        first = reader(address)
        writer.publish()
        assert reader(address) is first
        take_in(writer, {"/pike": [note("pike", "Pike", "The pike hunts.")]})
        writer.publish(quick=True)
        assert reader(address).generation > first.generation
        assert find_keys(reader(address), "pike") == {"pike"}

    @pytest.mark.usefixtures("writer")
    def test_there_is_one_writer(self, address: str) -> None:
        with pytest.raises(CorpusLockedError), open_writer(address):
            pass
