"""Chains where something goes wrong or a person steps in: a further search takes nothing from the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from anabranch import Scope, open_corpus
from anabranch.agent.graph import retrieval
from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from anabranch.store.memory import forget
from anabranch.types import NO_CHAIN
from evals.chains.worlds import World, make_world
from tests.graph.inside import build
from tests.graph.replies import model
from tests.graph.test_chains import FEW, late, reading
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import in_turn

pytestmark = pytest.mark.loopback

CONFIG: Any = {"configurable": {"thread_id": "t"}}


@pytest.fixture(scope="module")
def town() -> Iterator[tuple[str, World]]:
    world, address = make_world("two steps", 40), "memory:chain edges"
    ingest(documents=world.documents, corpus=address)
    yield address, world
    forget(address)


class Broken(BaseRetriever):
    """A service that finds something once, and fails from then on."""

    asked: list[str]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.asked.append(query)
        if len(self.asked) > 3:
            msg = "the service is down"
            raise RuntimeError(msg)
        return [Document(page_content="Nothing of the kind.", metadata={"source": "s"})]


async def test_a_further_search_that_fails_keeps_what_was_found(town: tuple[str, World]) -> None:
    corpus, world = town
    service = Broken(asked=[])
    with OpenAIStub(reading(world, create="A mill stands in the town.")) as stub:
        context = Context(
            corpus=corpus, model="openai:stub", base_url=stub.base_url, n_queries=3,
            retrievers=("bm25", "dense", "service"), hop_retrievers=("service",), **FEW,
        )  # fmt: skip
        state = (
            await build(retrievers={"service": service})
            .compile()
            .ainvoke({"question": late(world).text}, context=context)
        )
    assert state["chain"]["ended"] == "the last search found only what was known"
    assert len(state["candidates"]) == FEW["top_k"]
    assert [each["step"] for each in state["degraded"]] == ["retrieve:service"]


async def test_a_reader_without_budget_keeps_what_was_found(town: tuple[str, World]) -> None:
    corpus, world = town
    with OpenAIStub(reading(world, create="A mill stands in the town.")) as stub:
        context = Context(
            corpus=corpus, model="openai:stub", base_url=stub.base_url, max_model_calls=3,
            retrievers=("bm25", "dense", "llm"), hop_retrievers=("llm",), **FEW,
        )  # fmt: skip
        state = await build().compile().ainvoke({"question": late(world).text}, context=context)
    assert len(state["candidates"]) == FEW["top_k"]


async def test_a_passage_that_a_person_left_out_is_not_cited_for_its_value(town: tuple[str, World]) -> None:
    corpus, world = town
    question = late(world)
    compiled = build().compile(checkpointer=InMemorySaver())
    with OpenAIStub(reading(world, create=question.answer)) as stub:
        context = Context(corpus=corpus, model="openai:stub", base_url=stub.base_url, review="sources", **FEW)
        state = await compiled.ainvoke({"question": question.text}, CONFIG, context=context)
        (link,) = state["chain"]["links"]
        kept = [each["id"] for each in state["passages"] if link["chunk_id"] not in each["leaves"]]
        state = await compiled.ainvoke(Command(resume=kept), CONFIG)
    assert question.answer in state["answer"]
    assert link["chunk_id"] not in {each["chunk_id"] for each in state["citations"]}
    assert "By way of" not in state["answer"]


async def test_a_thread_of_before_chains_is_resumed(town: tuple[str, World]) -> None:
    corpus, world = town
    saver = InMemorySaver()
    compiled = build().compile(checkpointer=saver)
    with OpenAIStub(reading(world)) as stub:
        context = Context(corpus=corpus, model="openai:stub", base_url=stub.base_url, review="sources", hops=0, **FEW)
        await compiled.ainvoke({"question": late(world).text}, CONFIG, context=context)
        for spaces in saver.storage.values():
            for saved in spaces.values():
                for key, (checkpoint, metadata, parent) in list(saved.items()):
                    loaded = saver.serde.loads_typed(checkpoint)
                    loaded["channel_versions"].pop("chain", None)
                    saved[key] = (saver.serde.dumps_typed(loaded), metadata, parent)
        assert "chain" not in (await compiled.aget_state(CONFIG)).values
        state = await compiled.ainvoke(Command(resume=True), CONFIG)
    assert state["answer"]


class Overlap(BaseDocumentCompressor):
    """A reranker that knows no passage beside those that share a capitalised word with the query."""

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        names = {word.strip("?.,") for word in query.split() if word[0].isupper()} - {"In"}
        score = {each.page_content: float(len(names & {*each.page_content.split()})) for each in documents}
        ranked = sorted(documents, key=lambda each: -score[each.page_content])
        return [
            each.model_copy(update={"metadata": {**each.metadata, "relevance_score": score[each.page_content]}})
            for each in ranked
        ]


async def test_passages_of_the_second_value_are_judged_by_its_query_too() -> None:
    address = "memory:chain of two values"
    designed = [
        f"The {at} bridge was designed by {name}." for at, name in (("Ashby", "Ada Quill"), ("Ashby", "Bela Thorn"))
    ]
    many = [f"Ada Quill painted picture {number} of the harbour." for number in range(12)]
    ingest(documents=[*designed, *many, "Bela Thorn lived in house number 9 of the harbour."], corpus=address)
    plan = "Ashby bridge\nFIRST: Who designed the Ashby bridge?\nTHEN: In which house number did {found} live?"
    with OpenAIStub(model(rewrite=plan, follow="Ada Quill\nBela Thorn", create="Nobody knows.")) as stub:
        settings: dict[str, Any] = {**FEW, "top_k": 10, "rerank": Overlap()}
        context = Context(corpus=address, model="openai:stub", base_url=stub.base_url, **settings)
        state = (
            await build()
            .compile()
            .ainvoke({"question": "Where did the designer of the Ashby bridge live?"}, context=context)
        )
    found = await (await open_corpus(address)).chunks(state["chain"]["leaves"], Scope())
    forget(address)
    assert [link["value"] for link in state["chain"]["links"]] == ["Ada Quill", "Bela Thorn"]
    assert any("number 9" in chunk.text for chunk in found.values())


@pytest.mark.parametrize(
    ("node", "found"), [("rewrite", ["asked"]), ("rerank", ["asked", "multi", "multi", "followed"])]
)
async def test_a_search_that_is_edited_after_its_chain_is_searched_as_it_stands(
    node: str, found: list[str], town: tuple[str, World]
) -> None:
    """The queries of the chain do not come back, and no candidate is cut off as one of a further round."""
    corpus, world = town
    with OpenAIStub(reading(world)) as stub:
        context = Context(corpus=corpus, model="openai:stub", base_url=stub.base_url, **{**FEW, "top_k": 12})
        whole = await build().compile().ainvoke({"question": late(world).text}, context=context)
        edited: dict[str, Any] = {name: whole[name] for name in ("turn", "queries", "candidates", "evidence", "chain")}
        if node == "rewrite":
            edited["queries"] = [{"text": "Tarn library", "weight": 1.0, "kind": "asked"}]
        search = retrieval.build().compile(checkpointer=InMemorySaver())
        await search.aupdate_state(CONFIG, {**edited, "round": 1, "trace": []}, as_node=node)
        state = await search.ainvoke(None, CONFIG, context=context)
    assert [query["kind"] for query in state["queries"]] == found
    assert len(state["passages"]) == (12 if node == "rewrite" else len(whole["candidates"]))


async def test_a_plan_that_comes_after_a_search_is_none(town: tuple[str, World]) -> None:
    """A plan is asked for and taken before anything has been found."""
    corpus, world = town
    question = late(world)
    lacking = '{"sufficient": false, "missing": "the year"}'
    rewrite = in_turn("Tarn library", question.plan)
    with OpenAIStub(reading(world, grade=lacking, rewrite=rewrite)) as stub:
        context = Context(corpus=corpus, model="openai:stub", base_url=stub.base_url, grade="llm", **FEW)
        state = await build().compile().ainvoke({"question": question.text}, context=context)
    assert state["chain"] == NO_CHAIN
    assert len(stub.calls) > 3
