"""The scores of any passage."""

from __future__ import annotations

import json
import statistics

import pytest

from anabranch.store.conformance.corpus_contents import ARMS, EVERYTHING, FilledStore, everything, keys
from anabranch.store.protocol import Arm, FullScores, Scope


class FullScoresTests(FilledStore):
    """The scores of any passage."""

    async def test_what_somebody_else_has_just_found_stays_hidden(self, store: FullScores) -> None:
        hidden = [key for key, chunk in (await everything(store)).items() if chunk.doc_key in {"pay", "keys"}]
        for arm in ARMS:
            (found,) = await store.search(arm, ["the miller earns 4711 a year, the key of the weir"], 50, EVERYTHING)
            leaves = [key for key in found["ids"] if key in hidden]
            assert leaves
            for scope, seen in (
                (EVERYTHING, set(leaves)),
                (Scope(), set()),
                (Scope(filters={"source": "gauge.md"}), set()),
            ):
                (scores,) = await store.scores(arm, ["miller"], leaves, scope)
                assert set(scores) == seen

    @pytest.mark.parametrize("arm", ARMS)
    async def test_scores_are_those_that_a_search_gives(self, store: FullScores, arm: Arm) -> None:
        queries = ["when was the weir built", "bees dance", "zeppelin", ""]
        (every,) = await store.search("dense", ["water"], 10_000, EVERYTHING)
        scores = await store.scores(arm, queries, every["ids"], EVERYTHING)
        lists = await store.search(arm, queries, 10_000, EVERYTHING)
        assert json.loads(json.dumps(scores)) == scores
        for ranked, known in zip(lists, scores, strict=True):
            found = dict(zip(ranked["ids"], ranked["scores"], strict=True))
            assert known == {**dict.fromkeys(every["ids"], 0.0), **found}

    @pytest.mark.parametrize("arm", ARMS)
    async def test_what_is_hidden_or_no_leaf_has_no_score(self, store: FullScores, arm: Arm) -> None:
        (every,) = await store.search("dense", ["water"], 10_000, EVERYTHING)
        (public,) = await store.search("dense", ["water"], 10_000, Scope())
        parents = [key for key, chunk in (await everything(store)).items() if chunk.level != 2]
        asked = [*every["ids"], *parents, "0" * 16, "no id", every["ids"][0]]
        assert parents
        (known,) = await store.scores(arm, ["weir"], asked, Scope())
        assert set(known) == set(public["ids"]) < set(every["ids"])
        (narrowed,) = await store.scores(arm, ["weir"], asked, Scope(filters={"year": 1848}))
        assert await keys(store, list(narrowed)) == ["weir"]
        assert await store.scores(arm, ["weir", "mill"], [], Scope()) == [{}, {}]
        assert await store.scores(arm, [], asked, Scope()) == []

    async def test_the_background_is_that_of_the_leaves_in_scope(self, store: FullScores) -> None:
        queries = ["when was the weir built", "bees dance"]
        for scope in (Scope(), EVERYTHING, Scope(filters={"year": 1848})):
            lists = await store.search("dense", queries, 10_000, scope)
            for ranked, background in zip(lists, await store.background(queries, scope), strict=True):
                assert background.passages == len(ranked["ids"])
                assert background.mean == pytest.approx(statistics.fmean(ranked["scores"]))
                assert background.deviation == pytest.approx(statistics.pstdev(ranked["scores"]))

    async def test_a_word_of_one_leaf_scores_no_more_than_the_background_says(self, store: FullScores) -> None:
        (background,) = await store.background(["clover"], EVERYTHING)
        (ranked,) = await store.search("bm25", ["clover"], 5, EVERYTHING)
        assert len(ranked["ids"]) == 1
        assert 0 < ranked["scores"][0] <= background.rare

    async def test_nothing_in_scope_is_a_background_too(self, store: FullScores) -> None:
        (background,) = await store.background(["weir"], Scope(filters={"year": 1}))
        assert background == (0, 0.0, 0.0, 0.0)
