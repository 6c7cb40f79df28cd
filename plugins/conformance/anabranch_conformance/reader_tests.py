"""What every store does for a question."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from anabranch.errors import SettingsError
from anabranch.readers.document import Document
from anabranch.store.filters import matches, parse_filters
from anabranch.store.protocol import Arm, CorpusReader, Scope
from anabranch.store.records import digest_of
from anabranch_conformance.corpus_contents import ARMS, DOCUMENTS, EVERYTHING, FilledStore, everything, keys

FILTERS: list[dict[str, Any]] = [
    {"year": 1848.0},
    {"year": "1848"},
    {"year": {"gte": 1790, "lt": 1848}},
    {"year": {"gt": ""}},
    {"year": {"exists": False}},
    {"tags": "river"},
    {"tags": {"in": ["animals", None, True, 1]}},
    {"not": {"tags": {"glob": "an[!x]*"}}},
    {"source": {"glob": "*.md"}, "title": {"gte": "The"}},
    {"or": [{"key": {"in": ["mill", "nobody"]}}, {"and": [{"title": "Note"}, {"not": {"year": {"exists": True}}}]}]},
    {"doc_id": digest_of("gauge.md")},
    {"no.such.key": None},
]


def _columns(document: Document) -> dict[str, str]:
    source = document.source
    return {"source": source, "title": document.title, "key": document.key, "doc_id": digest_of(source)}


class ReaderTests(FilledStore):
    """What every store does for a question."""

    @pytest.mark.parametrize("arm", ARMS)
    async def test_a_ranked_list_is_plain_descending_and_of_leaves(self, store: CorpusReader, arm: Arm) -> None:
        (ranked,) = await store.search(arm, ["the water of the river at the weir"], 7, Scope())
        assert json.loads(json.dumps(ranked)) == ranked
        assert all(type(score) is float for score in ranked["scores"])
        assert 0 < len(ranked["ids"]) == len(ranked["scores"]) <= 7
        assert len(set(ranked["ids"])) == len(ranked["ids"])
        assert ranked["scores"] == sorted(ranked["scores"], reverse=True)
        found = await store.chunks(ranked["ids"], Scope())
        assert [found[chunk_id].level for chunk_id in ranked["ids"]] == [2] * len(ranked["ids"])

    @pytest.mark.parametrize("arm", ARMS)
    async def test_the_passage_that_answers_comes_first(self, store: CorpusReader, arm: Arm) -> None:
        queries = ["When was the weir built?", "Where do bees find clover?", "Who hunts in the weeds?"]
        lists = await store.search(arm, queries, 3, Scope())
        assert [(await keys(store, ranked["ids"]))[0] for ranked in lists] == ["weir", "bees", "pike"]

    async def test_bm25_returns_only_what_shares_a_term(self, store: CorpusReader) -> None:
        lists = await store.search("bm25", ["zeppelin", "clover", "the of and", "", "?!"], 50, EVERYTHING)
        assert [await keys(store, ranked["ids"]) for ranked in lists] == [[], ["bees"], [], [], []]

    @pytest.mark.parametrize("arm", ARMS)
    async def test_dense_and_bm25_take_any_number_of_queries(self, store: CorpusReader, arm: Arm) -> None:
        assert await store.search(arm, [], 5, Scope()) == []
        assert len(await store.search(arm, ["weir"] * 40, 5, Scope())) == 40

    @pytest.mark.parametrize("arm", ARMS)
    async def test_k_bounds_the_list(self, store: CorpusReader, arm: Arm) -> None:
        for k in (0, 1, 2, 10_000):
            (ranked,) = await store.search(arm, ["water weir mill"], k, Scope())
            assert len(ranked["ids"]) <= k
        (ranked,) = await store.search("dense", ["water"], 10_000, EVERYTHING)
        assert len(ranked["ids"]) == (await store.info()).leaves

    @pytest.mark.parametrize("arm", ARMS)
    async def test_a_query_is_answered_alike_alone_and_in_company(self, store: CorpusReader, arm: Arm) -> None:
        queries = ["weir", "bees dance", "how high did the water stand in year 117", "corn", "miller"]
        together = await store.search(arm, queries, 10, Scope())
        alone = [(await store.search(arm, [query], 10, Scope()))[0] for query in reversed(queries)]
        assert together == alone[::-1]

    @pytest.mark.parametrize("arm", ARMS)
    async def test_many_searches_at_once_agree(self, store: CorpusReader, arm: Arm) -> None:
        (expected,) = await store.search(arm, ["water at the gauge"], 10, Scope())
        found = await asyncio.gather(*(store.search(arm, ["water at the gauge"], 10, Scope()) for _ in range(40)))
        assert all(lists == [expected] for lists in found)

    @pytest.mark.parametrize("arm", ARMS)
    async def test_filters_come_before_ranking(self, store: CorpusReader, arm: Arm) -> None:
        scope = Scope(filters={"tags": "animals"})
        (ranked,) = await store.search(arm, ["weir water clover weeds"], 2, scope)
        assert sorted(await keys(store, ranked["ids"])) == ["bees", "pike"]
        (old,) = await store.search(arm, ["weir river"], 10, Scope(filters={"year": {"lt": 1800}}))
        assert await keys(store, old["ids"]) == ["mill"]
        (one,) = await store.search(arm, ["weir river"], 10, Scope(filters={"key": "pike"}))
        assert await keys(store, one["ids"]) == ["pike"]

    # Each engine has ways of its own to compare numbers with text and lists with items; `matches` says what is meant.
    @pytest.mark.parametrize("filters", FILTERS, ids=str)
    async def test_a_filter_means_what_the_evaluator_says(self, store: CorpusReader, filters: dict[str, Any]) -> None:
        (ranked,) = await store.search("dense", ["water"], 10_000, Scope(EVERYTHING.access, filters))
        part = parse_filters(filters)
        expected = {each.key for each in DOCUMENTS if matches(part, _columns(each), each.metadata)}
        assert set(await keys(store, ranked["ids"])) == expected

    @pytest.mark.parametrize("arm", ARMS)
    @pytest.mark.parametrize(
        ("access", "expected"),
        [
            ((), set()),
            (("board",), {"pay", "keys", "copy-a"}),
            (("staff",), {"keys", "copy-b"}),
            (("staff", "board"), {"pay", "keys", "copy-a", "copy-b"}),
            (("nobody",), set()),
            (("",), set()),
            (("boar", "BOARD", "%"), set()),
        ],
    )
    async def test_access_tags_decide_what_a_search_sees(
        self, store: CorpusReader, arm: Arm, access: tuple[str, ...], expected: set[str]
    ) -> None:
        scope = Scope(access=access)
        queries = ["the miller earns 4711 a year", "key of the weir", "low water on Tuesday"]
        lists = await store.search(arm, queries, 10_000, scope)
        restricted = {"pay", "keys", "copy-a", "copy-b"}
        found = {key for ranked in lists for key in await keys(store, ranked["ids"])}
        assert found & restricted == expected

    async def test_two_restricted_copies_of_a_text_stay_apart(self, store: CorpusReader) -> None:
        for tag, own in (("board", "copy-a"), ("staff", "copy-b")):
            for arm in ARMS:
                (ranked,) = await store.search(arm, ["low water on Tuesday"], 1, Scope(access=(tag,)))
                assert await keys(store, ranked["ids"]) == [own]

    async def test_a_filter_cannot_widen_access(self, store: CorpusReader) -> None:
        attempts: list[dict[str, Any]] = [
            {"key": "pay"},
            {"not": {"key": "weir"}},
            {"or": [{"key": "pay"}, {"access": "board"}, {"key": {"exists": True}}]},
            {"access": "board"},
        ]
        for filters in attempts:
            for arm in ARMS:
                (ranked,) = await store.search(arm, ["the miller earns 4711 a year"], 10_000, Scope(filters=filters))
                assert "pay" not in await keys(store, ranked["ids"])

    async def test_chunks_and_children_obey_the_scope(self, store: CorpusReader) -> None:
        found = await everything(store)
        hidden = [chunk_id for chunk_id, chunk in found.items() if chunk.doc_key == "pay"]
        assert len(hidden) == 3
        assert await store.chunks(hidden, Scope()) == {}
        assert await store.children(hidden, Scope(access=("staff",))) == {}
        assert set(await store.chunks(hidden, Scope(access=("board",)))) == set(hidden)
        gauge = [chunk_id for chunk_id, chunk in found.items() if chunk.doc_key == "gauge.md"]
        assert await store.chunks(gauge, Scope(filters={"key": "weir"})) == {}
        assert await store.children(gauge, Scope(filters={"key": "weir"})) == {}

    async def test_unknown_ids_are_absent(self, store: CorpusReader) -> None:
        strange = ["", "x", "0" * 16, "' OR 1=1 --", "é"]
        assert await store.chunks(strange, EVERYTHING) == {}
        assert await store.children(strange, EVERYTHING) == {}
        assert await store.chunks([], EVERYTHING) == {}

    async def test_thousands_of_ids_in_one_call(self, store: CorpusReader) -> None:
        known = list(await everything(store))
        asked = known + [f"{n:016x}" for n in range(5_000)] + known
        assert set(await store.chunks(asked, EVERYTHING)) == set(known)

    async def test_parents_hold_their_children_without_a_gap(self, store: CorpusReader) -> None:
        found = await everything(store)
        parents = [chunk_id for chunk_id, chunk in found.items() if chunk.level < 2]
        children = await store.children(parents, EVERYTHING)
        assert set(children) == set(parents)
        for parent_id, child_ids in children.items():
            parent = found[parent_id]
            inside = await store.chunks(child_ids, EVERYTHING)
            parts = [inside[child_id] for child_id in child_ids]
            assert "".join(part.text for part in parts) == parent.text
            assert [part.start for part in parts] == sorted(part.start for part in parts)
            assert (parts[0].start, parts[-1].end) == (parent.start, parent.end)
            assert all(part.level == parent.level + 1 and part.parent_id == parent_id for part in parts)
            assert all(part.doc_id == parent.doc_id for part in parts)

    async def test_a_chunk_says_where_it_is_from(self, store: CorpusReader) -> None:
        (ranked,) = await store.search("bm25", ["gauge water year 217"], 1, Scope())
        (chunk,) = (await store.chunks(ranked["ids"], Scope())).values()
        assert (chunk.source, chunk.title) == ("gauge.md", "The gauge book")
        assert chunk.heading.endswith("Part 2")
        assert "year 217" in chunk.text
        assert chunk.end - chunk.start == len(chunk.text)
        assert 0 < chunk.tokens <= 128

    async def test_places_obey_the_scope(self, store: CorpusReader) -> None:
        found = await everything(store)
        gauge = next(chunk for chunk in found.values() if chunk.doc_key == "gauge.md")
        pay = next(chunk for chunk in found.values() if chunk.doc_key == "pay")
        second = next(leaf for leaf in found.values() if leaf.level == 2 and leaf.heading.endswith("Part 2"))
        spots = [(gauge.doc_id, second.start), (pay.doc_id, 0), ("0" * 16, 5)]
        places = await store.places(spots, Scope())
        assert [place.page for place in places] == [None, None, None]
        assert [place.heading for place in places] == [second.heading, "", ""]

    async def test_analyse_keeps_duplicates(self, store: CorpusReader) -> None:
        assert [len(terms) for terms in await store.analyse(["rivers river the River", ""])] == [3, 0]

    async def test_info_counts(self, store: CorpusReader) -> None:
        info, found = await store.info(), await everything(store)
        assert info.documents == len(DOCUMENTS)
        assert info.chunks == len(found)
        assert info.leaves == sum(chunk.level == 2 for chunk in found.values())
        assert info.tokens == sum(chunk.tokens for chunk in found.values() if chunk.level == 0)
        assert (info.embedder, info.dimension) == (store.embedder.name, store.embedder.dimension)
        assert info.generation == store.generation > 0

    @pytest.mark.parametrize("arm", ARMS)
    async def test_a_malformed_filter_is_refused(self, store: CorpusReader, arm: Arm) -> None:
        malformed = Scope(filters={"year": {"above": 1}})
        with pytest.raises(SettingsError, match="above"):
            await store.search(arm, ["x"], 1, malformed)
        with pytest.raises(SettingsError, match="above"):
            await store.chunks(["x"], malformed)

    async def test_an_empty_filter_is_none(self, store: CorpusReader) -> None:
        empty = await store.search("dense", ["weir"], 5, Scope(filters={}))
        assert empty == await store.search("dense", ["weir"], 5, Scope())
