"""Documents that a caller may not read change nothing that the caller can see: as if they were not there."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from anabranch.store.protocol import Arm, CorpusReader, Scope
from anabranch.store.stores import open_corpus
from tests.graph.inside import build

pytestmark = pytest.mark.slow

GRAPH = build().compile()
KNOWN = [
    "weir",
    "gate",
    "heron",
    "otter",
    "gauge",
    "flood",
    "stone",
    "mill",
    "repaired",
    "counted",
    "painted",
    "by",
    "the",
    "miller",
    "in",
    "spring",
]
HIDDEN = ["norvexium", "canarybuyer", "takeover", "dismissal"]
UNKNOWN = ["zeppelin", "quagga"]
CORPUS_RETRIEVERS: tuple[Arm, ...] = ("bm25", "dense")


def document(name: str, words: list[str], dice: random.Random, **extra: Any) -> dict[str, Any]:
    said = [f"In {1900 + dice.randrange(99)} the {' '.join(dice.choices(words, k=9))}." for _ in range(4)]
    return {"id": name, "title": f"Notes on {words[0]}", "text": " ".join(said), **extra}


def lines(hidden: int) -> list[dict[str, Any]]:
    """Documents for everybody and for the staff, always the same; among them so many for the board."""
    dice = random.Random(7)
    there = [document(f"all{n}", dice.sample(KNOWN, 6), dice) for n in range(12)]
    there += [document(f"staff{n}", dice.sample(KNOWN, 6), dice, access=["staff"]) for n in range(4)]
    words = [*HIDDEN, *KNOWN[:3]]
    for number in range(hidden):
        there.insert(dice.randrange(len(there)), document(f"board{number}", words, dice, access=["board"]))
    return there


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Corpora that differ in what only the board may read."""
    made = []
    for hidden in (0, 1, 40):
        folder = tmp_path_factory.mktemp(f"hidden{hidden}")
        text = "".join(json.dumps(line) + "\n" for line in lines(hidden))
        (folder / "notes.jsonl").write_text(text, encoding="utf-8")
        assert ingest([folder / "notes.jsonl"], folder / "corpus").count("added") == 1
        made.append(folder / "corpus")
    return made


questions = st.lists(st.sampled_from([*KNOWN, *HIDDEN, *UNKNOWN]), min_size=1, max_size=8).map(" ".join)
callers = st.sampled_from([(), ("staff",), ("nobody",)])
ways = st.fixed_dictionaries(
    {},
    optional={
        "fusion": st.sampled_from(["complete", "convex", "rrf", "z_score", "dbsf"]),
        "retrievers": st.sampled_from([("bm25",), ("dense",), ("bm25", "dense")]),
        "alpha": st.sampled_from([0.0, 0.3, 1.0]),
        "top_k": st.sampled_from([1, 3, 24]),
    },
)
narrowings = st.sampled_from([None, {"key": {"glob": "all*"}}, {"title": {"exists": True}}])


async def seen(corpus: Path, question: str, access: tuple[str, ...], way: dict[str, Any], narrowed: Any) -> Any:
    """Everything that a turn shows of the documents: all of its end but times, random names and the corpus's path."""
    context = Context(corpus=str(corpus), access=access, file_links=False, **way)
    state = await GRAPH.ainvoke({"question": question, "filters": narrowed}, context=context)
    trace = [{**step, "ms": 0} for step in state["trace"]]
    shown = {name: value for name, value in state.items() if name != "usage"}
    shown["turn"] = {name: value for name, value in state["turn"].items() if name != "settings"}
    told = [(message.content, message.response_metadata) for message in state["messages"]]
    return json.loads(json.dumps({**shown, "messages": told, "trace": trace}))


@settings(max_examples=10, deadline=None, phases=[Phase.explicit, Phase.generate],
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(questions, callers, ways, narrowings)
@example("Was the weir repaired by norvexium?", (), {}, None)
@example("weir weir heron", ("staff",), {"fusion": "z_score"}, None)
def test_a_turn_is_the_same_whatever_is_hidden(
    corpora: list[Path], question: str, access: tuple[str, ...], way: dict[str, Any], narrowed: Any
) -> None:
    async def each() -> list[Any]:
        return [await seen(corpus, question, access, way, narrowed) for corpus in corpora]

    without, one, many = asyncio.run(each())
    assert one == without
    assert many == without


async def read(store: CorpusReader, queries: list[str], scope: Scope) -> Any:
    """All that a store tells one caller, to the last bit."""
    lists = {retriever: await store.search(retriever, queries, 30, scope) for retriever in CORPUS_RETRIEVERS}
    ids = sorted({chunk_id for found in lists.values() for ranked in found for chunk_id in ranked["ids"]})
    return {
        "lists": lists,
        "scores": await store.scores(dict.fromkeys(CORPUS_RETRIEVERS, queries), ids, scope),
        "idf": await store.idf(queries, scope),
        "occurring": await store.occurring(queries, ids, scope),
        "chunks": await store.chunks(ids, scope),
    }


@settings(max_examples=40, deadline=None, phases=[Phase.explicit, Phase.generate],
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(st.lists(questions, min_size=1, max_size=3), callers, narrowings)
@example([" ".join(HIDDEN)], (), None)
def test_a_store_tells_the_same_whatever_is_hidden(
    corpora: list[Path], queries: list[str], access: tuple[str, ...], narrowed: Any
) -> None:
    async def each() -> list[Any]:
        stores = [await open_corpus(corpus) for corpus in corpora]
        return [await read(store, queries, Scope(access=access, filters=narrowed)) for store in stores]

    without, one, many = asyncio.run(each())
    assert one == without
    assert many == without


async def test_whoever_may_read_it_has_it_counted(corpora: list[Path]) -> None:
    store = await open_corpus(corpora[2])
    board = await store.idf(["norvexium weir"], Scope(access=("board", "staff")))
    others = await store.idf(["norvexium weir"], Scope(access=("staff",)))
    assert set(board) > set(others) > set()
