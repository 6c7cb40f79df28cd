"""How rare words are, and where they occur."""

from __future__ import annotations

from anabranch.store.conformance.corpus_contents import ARMS, EVERYTHING, FilledStore, everything
from anabranch.store.protocol import Scope, TermStatistics


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
        scope = Scope(filters={"source": "gauge.md"})
        found = await store.occurring(["clover", "water"], leaves, scope)
        assert set(found) == {key for key in leaves if everywhere[key].source == "gauge.md"} != set(leaves)

    async def test_words_that_somebody_else_has_just_found_stay_hidden(self, store: TermStatistics) -> None:
        hidden = [key for key, chunk in (await everything(store)).items() if chunk.doc_key in {"pay", "keys"}]
        for arm in ARMS:
            (found,) = await store.search(arm, ["the miller earns 4711 a year, the key of the weir"], 50, EVERYTHING)
            leaves = [key for key in found["ids"] if key in hidden]
            assert leaves
            assert set(await store.occurring(["miller"], leaves, EVERYTHING)) == set(leaves)
            assert await store.occurring(["miller"], leaves, Scope()) == {}
            assert await store.occurring(["miller"], leaves, Scope(filters={"source": "gauge.md"})) == {}

    async def test_hidden_documents_make_no_word_more_common(self, store: TermStatistics) -> None:
        ((miller,),) = await store.analyse(["4711"])
        assert miller not in await store.idf(["4711"], Scope())
        assert miller in await store.idf(["4711"], EVERYTHING)
