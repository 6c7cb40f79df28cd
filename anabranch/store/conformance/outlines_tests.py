"""A corpus document by document."""

from __future__ import annotations

from anabranch.store.conformance.corpus_contents import EVERYTHING, FilledStore
from anabranch.store.protocol import Outlines, Scope


class OutlinesTests(FilledStore):
    """A corpus document by document."""

    async def test_outlines_are_of_every_document_in_scope_and_count_its_leaves(self, store: Outlines) -> None:
        found = await store.outlines(EVERYTHING, 100)
        assert sum(one.leaves for one in found) == (await store.info()).leaves
        assert {one.title: one.summary for one in found if one.summary} == {"Bees": "How bees tell where flowers are."}
        assert "Pay" not in {one.title for one in await store.outlines(Scope(), 100)}
        assert [one.title for one in await store.outlines(Scope(filters={"key": "mill"}), 100)] == ["The mill"]
        assert await store.outlines(EVERYTHING, 3) == found[:3]
        assert await store.outlines(Scope(filters={"key": "nobody"}), 3) == []

    async def test_leaves_are_in_document_order_and_obey_the_scope(self, store: Outlines) -> None:
        by_title = {one.title: one for one in await store.outlines(EVERYTHING, 100)}
        book, pay = by_title["The gauge book"], by_title["Pay"]
        leaves = (await store.leaves([book.doc_id], Scope(), 1_000))[book.doc_id]
        assert len(leaves) == book.leaves > 10
        chunks = list((await store.chunks(leaves, Scope())).values())
        assert [chunk.start for chunk in chunks] == sorted(chunk.start for chunk in chunks)
        assert {chunk.level for chunk in chunks} == {2}
        assert await store.leaves([book.doc_id, pay.doc_id, "nobody"], Scope(), 2) == {book.doc_id: leaves[:2]}
