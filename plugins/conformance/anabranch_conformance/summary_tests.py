"""What `anabranch ingest --summaries` relies on: what a model wrote of documents, kept beside them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from anabranch.readers.document import Document
from anabranch.store.protocol import Outlines, Scope
from anabranch.store.records import MAX_SUMMARY, content_digest, digest_of
from anabranch.store.stores import open_corpus, open_writer
from anabranch.store.writer_protocol import BareDocument, Summary, SummaryWriter
from anabranch_conformance.corpus_contents import DOCUMENTS, EVERYTHING, keep_facts, note, take_in

WEIR = note("weir", "The weir", "The weir was built in 1848.")
PAY = note("pay", "Pay", "The miller earns 4711 a year.", ["board"])
BEES = note("bees", "Bees", "Honey bees dance.", summary="How bees tell where flowers are.")
BOOK = DOCUMENTS[-1]
SUMMARY = "When the weir was built, and why."


def keep(writer: SummaryWriter, document: Document, text: str) -> int:
    """Keep the summary of a document as it is given."""
    return writer.keep_summaries([Summary(digest_of(document.source), content_digest(document), text)])


def find_summaries(address: str, scope: Scope = EVERYTHING) -> dict[str, str]:
    """Return the summary of each document that has one, by its title."""

    async def outlines() -> dict[str, str]:
        store = await open_corpus(address)
        assert isinstance(store, Outlines)
        return {one.title: one.summary for one in await store.outlines(scope, 100) if one.summary}

    return asyncio.run(outlines())


class SummaryTests:
    """Summaries; each test has a corpus of its own with three notes and a longer document."""

    @pytest.fixture
    def address(self) -> str:
        """Return the address of a corpus that is not there yet, another one for each test; to be overridden."""
        raise NotImplementedError

    @pytest.fixture
    def writer(self, address: str) -> Iterator[SummaryWriter]:
        """Hold the one writer."""
        with open_writer(address) as writer:
            keep_facts(writer)
            take_in(writer, {"/notes": [WEIR, PAY, BEES], "/book": [BOOK]})
            writer.publish()
            assert isinstance(writer, SummaryWriter)
            yield writer

    def test_documents_without_a_summary_are_listed_by_source(self, writer: SummaryWriter) -> None:
        lacking = [BareDocument(digest_of(each.source), content_digest(each), each.source, each.title)
                   for each in (BOOK, PAY, WEIR)]  # fmt: skip
        assert writer.list_unsummarised("", 100) == lacking
        assert writer.list_unsummarised("", 2) == lacking[:2]
        assert writer.list_unsummarised(BOOK.source, 100) == lacking[1:]
        assert writer.list_unsummarised(WEIR.source, 100) == []

    def test_a_summary_is_found_at_once_by_who_may_read_its_document(self, address: str, writer: SummaryWriter) -> None:
        own = {"Bees": "How bees tell where flowers are."}
        assert find_summaries(address) == own
        assert keep(writer, WEIR, SUMMARY)
        assert keep(writer, PAY, "What the miller earns.")
        assert find_summaries(address) == {**own, "The weir": SUMMARY, "Pay": "What the miller earns."}
        assert find_summaries(address, Scope()) == {**own, "The weir": SUMMARY}
        assert [bare.source for bare in writer.list_unsummarised("", 100)] == [BOOK.source]

    def test_a_summary_is_replaced_and_bounded(self, address: str, writer: SummaryWriter) -> None:
        for summary in (SUMMARY, "Another one.", "x" * (2 * MAX_SUMMARY)):
            assert keep(writer, WEIR, summary)
            assert find_summaries(address)["The weir"] == summary[:MAX_SUMMARY]

    def test_a_summary_of_the_documents_own_comes_first(self, address: str, writer: SummaryWriter) -> None:
        assert keep(writer, BEES, "About bees.")
        assert find_summaries(address) == {"Bees": "How bees tell where flowers are."}

    def test_a_summary_of_another_edition_is_not_kept(self, address: str, writer: SummaryWriter) -> None:
        weir = digest_of(WEIR.source)
        others = [Summary(weir, content_digest(PAY), SUMMARY), Summary("nobody", content_digest(WEIR), SUMMARY)]
        assert writer.keep_summaries(others) == 0
        assert writer.keep_summaries([]) == 0
        assert set(find_summaries(address)) == {"Bees"}

    def test_an_unchanged_document_keeps_its_summary(self, address: str, writer: SummaryWriter) -> None:
        keep(writer, WEIR, SUMMARY)
        take_in(writer, {"/pike": [note("pike", "Pike", "The pike hunts.")]})
        writer.publish()
        assert find_summaries(address)["The weir"] == SUMMARY
        assert "notes.jsonl#pike" in {bare.source for bare in writer.list_unsummarised("", 100)}

    def test_a_document_that_changes_loses_its_summary(self, address: str, writer: SummaryWriter) -> None:
        keep(writer, WEIR, SUMMARY)
        changed = note("weir", "The weir", "The sluice was built in 1901.")
        take_in(writer, {"/notes": [changed, PAY, BEES]})
        writer.publish()
        assert set(find_summaries(address)) == {"Bees"}
        assert writer.list_unsummarised(PAY.source, 1)[0].digest == content_digest(changed)
        # Nor does it come back with the former text.
        take_in(writer, {"/notes": [WEIR, PAY, BEES]})
        writer.publish()
        assert set(find_summaries(address)) == {"Bees"}

    def test_a_removed_document_takes_its_summary_along(self, address: str, writer: SummaryWriter) -> None:
        keep(writer, WEIR, SUMMARY)
        writer.remove_documents([digest_of(WEIR.source)])
        take_in(writer, {"/notes": [WEIR, PAY, BEES]})
        writer.publish()
        assert set(find_summaries(address)) == {"Bees"}

    def test_leaves_are_spread_over_a_document(self, writer: SummaryWriter) -> None:
        doc_id = digest_of(BOOK.source)
        every = writer.sample_leaves(doc_id, 10_000)
        assert len(every) > 10
        sample = writer.sample_leaves(doc_id, 5)
        assert len(sample) == 5
        places = [every.index(text) for text in sample]
        assert places == sorted(places)
        assert (places[0], places[-1]) == (0, len(every) - 1)
        assert writer.sample_leaves(doc_id, 1) == every[:1]
        assert writer.sample_leaves(digest_of("nobody"), 5) == []
