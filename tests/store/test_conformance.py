"""What every corpus store has to do, whatever it is built on; a new store joins by one line in STORES."""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from anabranch.errors import SettingsError
from anabranch.ingest.pipeline import ingest
from anabranch.readers.document import Chunk
from anabranch.store.corpus_handles import open_corpus
from anabranch.store.protocol import Arm, CorpusStore, Scope

ARMS: tuple[Arm, ...] = ("bm25", "dense")
EVERYTHING = Scope(access=("board", "staff"))

LINES: list[dict[str, Any]] = [
    {"id": "weir", "title": "The weir", "text": "The weir was built in 1848 to hold the river back.", "year": 1848},
    {
        "id": "mill",
        "title": "The mill",
        "text": "The mill grinds corn; its wheel is turned by the river.",
        "year": 1790,
    },
    {
        "id": "bees",
        "title": "Bees",
        "text": "Honey bees dance to tell where the clover flowers.",
        "tags": ["animals"],
        "summary": " How bees tell where flowers are. ",
    },
    {
        "id": "pike",
        "title": "Pike",
        "text": "The pike hunts in the weeds below the weir.",
        "tags": ["animals", "river"],
    },
    {"id": "pay", "title": "Pay", "text": "The miller earns 4711 a year.", "access": ["board"], "year": 2024},
    {"id": "keys", "title": "Keys", "text": "The key of the weir hangs in the mill.", "access": ["staff", "board"]},
    {"id": "copy-a", "title": "Note", "text": "Low water on Tuesday.", "access": ["board"]},
    {"id": "copy-b", "title": "Note", "text": "Low water on Tuesday.", "access": ["staff"]},
]
LONG = "".join(
    f"\n\n## Part {part}\n\n"
    + " ".join(f"In year {part * 100 + n} the water stood {n} hands high at the gauge." for n in range(60))
    for part in range(1, 5)
)


def write_documents(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "notes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
    (folder / "gauge.md").write_text(f"# The gauge book{LONG}\n", encoding="utf-8")
    return folder


async def embedded(folder: Path) -> CorpusStore:
    documents = await asyncio.to_thread(write_documents, folder / "documents")
    await asyncio.to_thread(ingest, [documents], folder / "corpus")
    return await open_corpus(folder / "corpus")


STORES: dict[str, Callable[[Path], Awaitable[CorpusStore]]] = {"embedded": embedded}


@pytest.fixture(scope="module", params=list(STORES))
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CorpusStore:
    return asyncio.run(STORES[request.param](tmp_path_factory.mktemp(request.param) / "store"))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
async def _nothing_blocks_the_loop() -> AsyncIterator[None]:
    with blockbuster_ctx():
        yield


async def keys(store: CorpusStore, ids: list[str], scope: Scope = EVERYTHING) -> list[str]:
    found = await store.chunks(ids, scope)
    return [found[chunk_id].doc_key for chunk_id in ids if chunk_id in found]


async def everything(store: CorpusStore) -> dict[str, Chunk]:
    """Every chunk of the store, by way of its leaves."""
    (ranked,) = await store.search("dense", ["water"], 10_000, EVERYTHING)
    found = await store.chunks(ranked["ids"], EVERYTHING)
    while parents := {chunk.parent_id for chunk in found.values() if chunk.parent_id} - set(found):
        found |= await store.chunks(sorted(parents), EVERYTHING)
    return found


@pytest.mark.parametrize("arm", ARMS)
async def test_a_ranked_list_is_plain_descending_and_of_leaves(store: CorpusStore, arm: Arm) -> None:
    (ranked,) = await store.search(arm, ["the water of the river at the weir"], 7, Scope())
    assert json.loads(json.dumps(ranked)) == ranked
    assert all(type(score) is float for score in ranked["scores"])
    assert 0 < len(ranked["ids"]) == len(ranked["scores"]) <= 7
    assert len(set(ranked["ids"])) == len(ranked["ids"])
    assert ranked["scores"] == sorted(ranked["scores"], reverse=True)
    found = await store.chunks(ranked["ids"], Scope())
    assert [found[chunk_id].level for chunk_id in ranked["ids"]] == [2] * len(ranked["ids"])


@pytest.mark.parametrize("arm", ARMS)
async def test_the_passage_that_answers_comes_first(store: CorpusStore, arm: Arm) -> None:
    queries = ["When was the weir built?", "Where do bees find clover?", "Who hunts in the weeds?"]
    lists = await store.search(arm, queries, 3, Scope())
    assert [(await keys(store, ranked["ids"]))[0] for ranked in lists] == ["weir", "bees", "pike"]


async def test_bm25_returns_only_what_shares_a_term(store: CorpusStore) -> None:
    lists = await store.search("bm25", ["zeppelin", "clover", "the of and", "", "?!"], 50, EVERYTHING)
    assert [await keys(store, ranked["ids"]) for ranked in lists] == [[], ["bees"], [], [], []]


@pytest.mark.parametrize("arm", ARMS)
async def test_dense_and_bm25_take_any_number_of_queries(store: CorpusStore, arm: Arm) -> None:
    assert await store.search(arm, [], 5, Scope()) == []
    assert len(await store.search(arm, ["weir"] * 40, 5, Scope())) == 40


@pytest.mark.parametrize("arm", ARMS)
async def test_k_bounds_the_list(store: CorpusStore, arm: Arm) -> None:
    for k in (0, 1, 2, 10_000):
        (ranked,) = await store.search(arm, ["water weir mill"], k, Scope())
        assert len(ranked["ids"]) <= k
    (ranked,) = await store.search("dense", ["water"], 10_000, EVERYTHING)
    assert len(ranked["ids"]) == (await store.info()).leaves


@pytest.mark.parametrize("arm", ARMS)
async def test_a_query_is_answered_alike_alone_and_in_company(store: CorpusStore, arm: Arm) -> None:
    queries = ["weir", "bees dance", "how high did the water stand in year 117", "corn", "miller"]
    together = await store.search(arm, queries, 10, Scope())
    alone = [(await store.search(arm, [query], 10, Scope()))[0] for query in reversed(queries)]
    assert together == alone[::-1]


@pytest.mark.parametrize("arm", ARMS)
async def test_many_searches_at_once_agree(store: CorpusStore, arm: Arm) -> None:
    (expected,) = await store.search(arm, ["water at the gauge"], 10, Scope())
    found = await asyncio.gather(*(store.search(arm, ["water at the gauge"], 10, Scope()) for _ in range(40)))
    assert all(lists == [expected] for lists in found)


@pytest.mark.parametrize("arm", ARMS)
async def test_filters_come_before_ranking(store: CorpusStore, arm: Arm) -> None:
    scope = Scope(filters={"tags": "animals"})
    (ranked,) = await store.search(arm, ["weir water clover weeds"], 2, scope)
    assert sorted(await keys(store, ranked["ids"])) == ["bees", "pike"]
    (old,) = await store.search(arm, ["weir river"], 10, Scope(filters={"year": {"lt": 1800}}))
    assert await keys(store, old["ids"]) == ["mill"]
    (one,) = await store.search(arm, ["weir river"], 10, Scope(filters={"key": "pike"}))
    assert await keys(store, one["ids"]) == ["pike"]


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize(
    ("access", "seen"),
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
    store: CorpusStore, arm: Arm, access: tuple[str, ...], seen: set[str]
) -> None:
    scope = Scope(access=access)
    queries = ["the miller earns 4711 a year", "key of the weir", "low water on Tuesday"]
    lists = await store.search(arm, queries, 10_000, scope)
    restricted = {"pay", "keys", "copy-a", "copy-b"}
    found = {key for ranked in lists for key in await keys(store, ranked["ids"])}
    assert found & restricted == seen


async def test_two_restricted_copies_of_a_text_stay_apart(store: CorpusStore) -> None:
    for tag, own in (("board", "copy-a"), ("staff", "copy-b")):
        for arm in ARMS:
            (ranked,) = await store.search(arm, ["low water on Tuesday"], 1, Scope(access=(tag,)))
            assert await keys(store, ranked["ids"]) == [own]


async def test_a_filter_cannot_widen_access(store: CorpusStore) -> None:
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


async def test_chunks_and_children_obey_the_scope(store: CorpusStore) -> None:
    found = await everything(store)
    hidden = [chunk_id for chunk_id, chunk in found.items() if chunk.doc_key == "pay"]
    assert len(hidden) == 3
    assert await store.chunks(hidden, Scope()) == {}
    assert await store.children(hidden, Scope(access=("staff",))) == {}
    assert set(await store.chunks(hidden, Scope(access=("board",)))) == set(hidden)
    gauge = [chunk_id for chunk_id, chunk in found.items() if chunk.doc_key == "gauge.md"]
    assert await store.chunks(gauge, Scope(filters={"key": "weir"})) == {}
    assert await store.children(gauge, Scope(filters={"key": "weir"})) == {}


async def test_unknown_ids_are_absent(store: CorpusStore) -> None:
    strange = ["", "x", "0" * 16, "' OR 1=1 --", "é"]
    assert await store.chunks(strange, EVERYTHING) == {}
    assert await store.children(strange, EVERYTHING) == {}
    assert await store.chunks([], EVERYTHING) == {}


async def test_thousands_of_ids_in_one_call(store: CorpusStore) -> None:
    known = list(await everything(store))
    asked = known + [f"{n:016x}" for n in range(5_000)] + known
    assert set(await store.chunks(asked, EVERYTHING)) == set(known)


async def test_parents_hold_their_children_without_a_gap(store: CorpusStore) -> None:
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


async def test_a_chunk_says_where_it_is_from(store: CorpusStore) -> None:
    (ranked,) = await store.search("bm25", ["gauge water year 217"], 1, Scope())
    (chunk,) = (await store.chunks(ranked["ids"], Scope())).values()
    assert (chunk.source, chunk.title) == ("gauge.md", "The gauge book")
    assert chunk.heading.endswith("Part 2")
    assert "year 217" in chunk.text
    assert chunk.end - chunk.start == len(chunk.text)
    assert 0 < chunk.tokens <= 128


async def test_outlines_are_of_every_document_in_scope_and_count_its_leaves(store: CorpusStore) -> None:
    found = await store.outlines(EVERYTHING, 100)
    assert sum(one.leaves for one in found) == (await store.info()).leaves
    assert {one.title: one.summary for one in found if one.summary} == {"Bees": "How bees tell where flowers are."}
    assert "Pay" not in {one.title for one in await store.outlines(Scope(), 100)}
    assert [one.title for one in await store.outlines(Scope(filters={"key": "mill"}), 100)] == ["The mill"]
    assert await store.outlines(EVERYTHING, 3) == found[:3]
    assert await store.outlines(Scope(filters={"key": "nobody"}), 3) == []


async def test_leaves_are_in_document_order_and_obey_the_scope(store: CorpusStore) -> None:
    by_title = {one.title: one for one in await store.outlines(EVERYTHING, 100)}
    book, pay = by_title["The gauge book"], by_title["Pay"]
    leaves = (await store.leaves([book.doc_id], Scope(), 1_000))[book.doc_id]
    assert len(leaves) == book.leaves > 10
    chunks = list((await store.chunks(leaves, Scope())).values())
    assert [chunk.start for chunk in chunks] == sorted(chunk.start for chunk in chunks)
    assert {chunk.level for chunk in chunks} == {2}
    assert await store.leaves([book.doc_id, pay.doc_id, "nobody"], Scope(), 2) == {book.doc_id: leaves[:2]}


async def test_places_obey_the_scope(store: CorpusStore) -> None:
    found = await everything(store)
    gauge = next(chunk for chunk in found.values() if chunk.doc_key == "gauge.md")
    pay = next(chunk for chunk in found.values() if chunk.doc_key == "pay")
    second = next(leaf for leaf in found.values() if leaf.level == 2 and leaf.heading.endswith("Part 2"))
    spots = [(gauge.doc_id, second.start), (pay.doc_id, 0), ("0" * 16, 5)]
    places = await store.places(spots, Scope())
    assert [place.page for place in places] == [None, None, None]
    assert [place.heading for place in places] == [second.heading, "", ""]


async def test_idf_is_of_analysed_terms(store: CorpusStore) -> None:
    ((clover,), (water,)) = await store.analyse(["clover", "waters"])
    found = await store.idf(["clover", "waters", "zeppelin", "the"], EVERYTHING)
    assert set(found) == {clover, water}
    assert found[clover] > found[water]
    assert all(type(value) is float for value in found.values())


async def test_which_words_occur_is_what_bm25_finds_them_by(store: CorpusStore) -> None:
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


async def test_words_of_hidden_leaves_are_not_told(store: CorpusStore) -> None:
    everywhere = await everything(store)
    leaves = [chunk_id for chunk_id, chunk in everywhere.items() if chunk.level == 2]
    scope = Scope(filters={"source": "gauge.md"})
    found = await store.occurring(["clover", "water"], leaves, scope)
    assert set(found) == {key for key in leaves if everywhere[key].source == "gauge.md"} != set(leaves)


async def test_what_somebody_else_has_just_found_stays_hidden(store: CorpusStore) -> None:
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
            assert set(await store.occurring(["miller"], leaves, scope)) == seen


async def test_analyse_keeps_duplicates(store: CorpusStore) -> None:
    assert [len(terms) for terms in await store.analyse(["rivers river the River", ""])] == [3, 0]


async def test_info_counts(store: CorpusStore) -> None:
    info, found = await store.info(), await everything(store)
    assert info.documents == len(LINES) + 1
    assert info.chunks == len(found)
    assert info.leaves == sum(chunk.level == 2 for chunk in found.values())
    assert info.tokens == sum(chunk.tokens for chunk in found.values() if chunk.level == 0)
    assert (info.embedder, info.dimension) == (store.embedder.name, store.embedder.dimension)
    assert info.generation == store.generation > 0
    assert info.bytes > 0


async def test_an_edition_is_named_alike_while_nothing_changes(store: CorpusStore) -> None:
    edition = await store.edition()
    await store.search("bm25", ["weir"], 3, EVERYTHING)
    assert isinstance(edition, str)
    assert edition == await store.edition() != ""


@pytest.mark.parametrize("arm", ARMS)
async def test_a_malformed_filter_is_refused(store: CorpusStore, arm: Arm) -> None:
    for call in (store.search(arm, ["x"], 1, Scope(filters={"year": {"above": 1}})),):
        with pytest.raises(SettingsError, match="above"):
            await call
    with pytest.raises(SettingsError, match="above"):
        await store.chunks(["x"], Scope(filters={"year": {"above": 1}}))


async def test_an_empty_filter_is_none(store: CorpusStore) -> None:
    empty = await store.search("dense", ["weir"], 5, Scope(filters={}))
    assert empty == await store.search("dense", ["weir"], 5, Scope())


@pytest.mark.parametrize("arm", ARMS)
async def test_scores_are_those_that_a_search_gives(store: CorpusStore, arm: Arm) -> None:
    queries = ["when was the weir built", "bees dance", "zeppelin", ""]
    (every,) = await store.search("dense", ["water"], 10_000, EVERYTHING)
    scores = await store.scores(arm, queries, every["ids"], EVERYTHING)
    lists = await store.search(arm, queries, 10_000, EVERYTHING)
    assert json.loads(json.dumps(scores)) == scores
    for ranked, known in zip(lists, scores, strict=True):
        found = dict(zip(ranked["ids"], ranked["scores"], strict=True))
        assert known == {**dict.fromkeys(every["ids"], 0.0), **found}


@pytest.mark.parametrize("arm", ARMS)
async def test_what_is_hidden_or_no_leaf_has_no_score(store: CorpusStore, arm: Arm) -> None:
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


async def test_the_background_is_that_of_the_leaves_in_scope(store: CorpusStore) -> None:
    queries = ["when was the weir built", "bees dance"]
    for scope in (Scope(), EVERYTHING, Scope(filters={"year": 1848})):
        lists = await store.search("dense", queries, 10_000, scope)
        for ranked, background in zip(lists, await store.background(queries, scope), strict=True):
            assert background.passages == len(ranked["ids"])
            assert background.mean == pytest.approx(statistics.fmean(ranked["scores"]))
            assert background.deviation == pytest.approx(statistics.pstdev(ranked["scores"]))


async def test_a_word_of_one_leaf_scores_no_more_than_the_background_says(store: CorpusStore) -> None:
    (background,) = await store.background(["clover"], EVERYTHING)
    (ranked,) = await store.search("bm25", ["clover"], 5, EVERYTHING)
    assert len(ranked["ids"]) == 1
    assert 0 < ranked["scores"][0] <= background.rare


async def test_nothing_in_scope_is_a_background_too(store: CorpusStore) -> None:
    (background,) = await store.background(["weir"], Scope(filters={"year": 1}))
    assert background == (0, 0.0, 0.0, 0.0)
