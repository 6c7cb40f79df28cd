"""What a store may do beyond `CorpusReader`: a class of tests for each optional protocol."""

from __future__ import annotations

import json

import pytest

from anabranch.store.protocol import (
    Arm,
    CorpusReader,
    FullScores,
    MetadataSample,
    Originals,
    Outlines,
    Scope,
    TermStatistics,
)
from anabranch_conformance.corpus_contents import ARMS, DOCUMENTS, EVERYTHING, FilledStore, everything, keys

ELSEWHERE = {"source": "gauge.md"}


async def restricted_leaves(store: CorpusReader, arm: Arm) -> set[str]:
    """Have somebody with all tags find leaves that others may not see: what a store remembers of that must not show."""
    (found,) = await store.search(arm, ["the miller earns 4711 a year, the key of the weir"], 50, EVERYTHING)
    chunks = (await store.chunks(found["ids"], EVERYTHING)).items()
    leaves = {key for key, chunk in chunks if chunk.doc_key in {"pay", "keys"}}
    assert leaves
    return leaves


class FullScoresTests(FilledStore):
    """The scores of any passage."""

    async def test_what_somebody_else_has_just_found_stays_hidden(self, store: FullScores) -> None:
        for arm in ARMS:
            leaves = await restricted_leaves(store, arm)
            for scope, seen in ((EVERYTHING, leaves), (Scope(), set()), (Scope(filters=ELSEWHERE), set())):
                (scores,) = (await store.scores({arm: ["miller"]}, list(leaves), scope))[arm]
                assert set(scores) == seen

    @pytest.mark.parametrize("arm", ARMS)
    async def test_scores_are_those_that_a_search_gives(self, store: FullScores, arm: Arm) -> None:
        queries = ["when was the weir built", "bees dance", "zeppelin", ""]
        (every,) = await store.search("dense", ["water"], 10_000, EVERYTHING)
        scores = (await store.scores({arm: queries}, every["ids"], EVERYTHING))[arm]
        lists = await store.search(arm, queries, 10_000, EVERYTHING)
        assert json.loads(json.dumps(scores)) == scores
        for ranked, known in zip(lists, scores, strict=True):
            found = dict(zip(ranked["ids"], ranked["scores"], strict=True))
            assert known == {**dict.fromkeys(every["ids"], 0.0), **found}

    async def test_both_at_once_are_those_of_each(self, store: FullScores) -> None:
        (every,) = await store.search("dense", ["water"], 10_000, EVERYTHING)
        queries: dict[Arm, list[str]] = {"bm25": ["weir", "bees"], "dense": ["mill"]}
        both = await store.scores(queries, every["ids"], EVERYTHING)
        for arm, asked in queries.items():
            alone = await store.scores({arm: asked}, every["ids"], EVERYTHING)
            assert alone[arm] == both[arm]

    @pytest.mark.parametrize("arm", ARMS)
    async def test_what_is_hidden_or_no_leaf_has_no_score(self, store: FullScores, arm: Arm) -> None:
        (every,) = await store.search("dense", ["water"], 10_000, EVERYTHING)
        (public,) = await store.search("dense", ["water"], 10_000, Scope())
        parents = [key for key, chunk in (await everything(store)).items() if chunk.level != 2]
        asked = [*every["ids"], *parents, "0" * 16, "no id", every["ids"][0]]
        assert parents
        (known,) = (await store.scores({arm: ["weir"]}, asked, Scope()))[arm]
        assert set(known) == set(public["ids"]) < set(every["ids"])
        (narrowed,) = (await store.scores({arm: ["weir"]}, asked, Scope(filters={"year": 1848})))[arm]
        assert await keys(store, list(narrowed)) == ["weir"]
        assert (await store.scores({arm: ["weir", "mill"]}, [], Scope())) == {arm: [{}, {}]}
        assert (await store.scores({arm: []}, asked, Scope())) == {arm: []}


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


class MetadataSampleTests(FilledStore):
    """The metadata of documents."""

    async def test_the_metadata_of_every_document_in_scope_has_its_title(self, store: MetadataSample) -> None:
        found = await store.sample_metadata(EVERYTHING, 100)
        assert all(isinstance(each, dict) for each in found)
        assert {each["title"]: each.get("year") for each in found if "year" in each} == {
            document.title: document.metadata["year"] for document in DOCUMENTS if "year" in document.metadata
        }
        assert len(found) == len(DOCUMENTS)
        assert next(each["tags"] for each in found if each["title"] == "Pike") == ["animals", "river"]

    async def test_a_sample_has_a_bound_and_obeys_the_scope(self, store: MetadataSample) -> None:
        assert len(await store.sample_metadata(EVERYTHING, 3)) == 3
        public = await store.sample_metadata(Scope(), 100)
        assert "Pay" not in {each["title"] for each in public}
        assert 2024 not in {each.get("year") for each in public}
        narrowed = await store.sample_metadata(Scope(filters={"year": {"gt": 1800}}), 100)
        assert [each["title"] for each in narrowed] == ["The weir"]
        assert await store.sample_metadata(Scope(access=("board",), filters={"year": 2024}), 100) == [
            {"title": "Pay", "year": 2024}
        ]


class OriginalsTests(FilledStore):
    """The files that documents were read from."""

    async def test_each_document_in_scope_has_its_file(self, store: Originals) -> None:
        chunks = (await everything(store)).values()
        by_key = {chunk.doc_key: chunk for chunk in chunks}
        asked = [chunk.doc_id for chunk in by_key.values()]
        found = await store.originals([*asked, "nobody"], EVERYTHING)
        assert set(found) == set(asked)
        for chunk in by_key.values():
            assert (found[chunk.doc_id].source, found[chunk.doc_id].title) == (chunk.source, chunk.title)
            assert found[chunk.doc_id].pages >= (chunk.page_end or 0)
            assert found[chunk.doc_id].file == found[chunk.doc_id].path[1:]
        given = {document.key: tuple(sorted(document.access)) for document in DOCUMENTS}
        assert {key: found[chunk.doc_id].access for key, chunk in by_key.items()} == given
        places = await store.places([(doc_id, 0) for doc_id in asked], EVERYTHING)
        assert [found[doc_id].path for doc_id in asked] == [place.path for place in places]

    async def test_the_file_of_a_hidden_document_is_not_told(self, store: Originals) -> None:
        pay = next(chunk for chunk in (await everything(store)).values() if chunk.doc_key == "pay")
        assert await store.originals([pay.doc_id], Scope()) == {}
        assert await store.originals([pay.doc_id], Scope(access=("nobody",))) == {}


class TermStatisticsTests(FilledStore):
    """How rare words are, and where they occur."""

    async def test_idf_is_of_analysed_terms(self, store: TermStatistics) -> None:
        ((clover,), (water,)) = await store.analyse(["clover", "waters"])
        found = await store.idf(["clover", "waters", "zeppelin", "the"], EVERYTHING)
        assert set(found) == {clover, water}
        assert found[clover] > found[water]
        assert all(type(value) is float for value in found.values())

    async def test_which_words_occur_is_what_bm25_finds_them_by(self, store: TermStatistics) -> None:
        leaves = [chunk_id for chunk_id, chunk in (await everything(store)).items() if chunk.level == 2]
        words = ["clover", "waters", "gauge", "zeppelin", "the"]
        found = await store.occurring([*words, "clover waters"], [*leaves, "0" * 16], EVERYTHING)
        assert set(found) == set(leaves)
        for word in words:
            (by_search,) = await store.search("bm25", [word], len(leaves), EVERYTHING)
            assert {key for key, terms in found.items() if terms & set((await store.analyse([word]))[0])} == set(
                by_search["ids"]
            )
        assert any(len(terms) > 1 for terms in found.values())

    async def test_words_of_hidden_leaves_are_not_told(self, store: TermStatistics) -> None:
        everywhere = await everything(store)
        leaves = [chunk_id for chunk_id, chunk in everywhere.items() if chunk.level == 2]
        scope = Scope(filters=ELSEWHERE)
        found = await store.occurring(["clover", "water"], leaves, scope)
        assert set(found) == {key for key in leaves if everywhere[key].source == "gauge.md"} != set(leaves)

    async def test_words_that_somebody_else_has_just_found_stay_hidden(self, store: TermStatistics) -> None:
        for arm in ARMS:
            leaves = await restricted_leaves(store, arm)
            for scope, seen in ((EVERYTHING, leaves), (Scope(), set()), (Scope(filters=ELSEWHERE), set())):
                assert set(await store.occurring(["miller"], list(leaves), scope)) == seen

    async def test_hidden_documents_make_no_word_more_common(self, store: TermStatistics) -> None:
        ((miller,),) = await store.analyse(["4711"])
        assert miller not in await store.idf(["4711"], Scope())
        assert miller in await store.idf(["4711"], EVERYTHING)
