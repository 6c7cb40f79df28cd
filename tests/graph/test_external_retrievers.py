"""LangChain retrievers in the fan-out."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.retrievers import BaseRetriever

from anabranch.agent.graph.retrieval import build_search
from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from tests.graph.inside import build

TOLL = "The toll bridge at Halden was opened in 1832 by Queen Adelaide."


class Fixed(BaseRetriever):
    """Finds the same page for every query."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        page = Document(page_content=TOLL, metadata={"source": "bridge.txt", "page": 3})
        return [page, page]


async def test_an_external_passage_is_fused_packed_and_cited(river: str) -> None:
    compiled = build(retrievers={"bridges": Fixed()}).compile()
    state = await compiled.ainvoke(
        {"question": "Who opened the toll bridge at Halden?"},
        context=Context(corpus=river, retrievers=("bm25", "dense", "bridges")),
    )
    assert "Queen Adelaide" in state["answer"]
    citation = next(c for c in state["citations"] if c["source"] == "bridge.txt")
    assert citation["page"] == 3
    assert citation["quote"] in TOLL


async def test_a_retriever_of_langchain_community_joins(river: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from langchain_community.retrievers import BM25Retriever

    shelf = BM25Retriever.from_texts([TOLL, "Herons nest at Lower Cray."], metadatas=[{"source": "a"}, {"source": "b"}])
    compiled = build(retrievers={"community": shelf}).compile()
    state = await compiled.ainvoke(
        {"question": "Who opened the toll bridge at Halden?"},
        context=Context(corpus=river, retrievers=("dense", "community")),
    )
    assert "Queen Adelaide" in state["answer"]


@pytest.mark.parametrize("name", ["bm25", "dense", "llm", "", "  "])
@pytest.mark.parametrize("make", [build, build_search])
def test_a_name_that_cannot_be_told_from_a_built_in_one_is_refused(make: Any, name: str) -> None:
    with pytest.raises(SettingsError, match="name"):
        make(retrievers={name: Fixed()})


@pytest.mark.parametrize("make", [build, build_search])
def test_what_is_no_retriever_is_refused(make: Any) -> None:
    for value in (Fixed, lambda query: [], None):
        with pytest.raises(SettingsError, match="mine"):
            make(retrievers={"mine": value})


@pytest.mark.parametrize("make", [build, build_search])
async def test_a_retriever_that_nobody_gave_is_refused_before_any_step(river: str, make: Any) -> None:
    compiled = make(retrievers={"bridges": Fixed()}).compile()
    steps: list[Any] = []
    with pytest.raises(SettingsError, match=r"bridge.*bm25, dense, llm, bridges"):
        async for event in compiled.astream(
            {"question": "Who?"}, context=Context(corpus=river, retrievers=("bm25", "bridge")), stream_mode="updates"
        ):
            steps.append(event)
    assert steps == []


class Halting(Fixed):
    """Fails at the query that begins with a word."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        if query.startswith("and"):
            raise ConnectionError("the line is dead")
        return super()._get_relevant_documents(query, run_manager=run_manager)


async def test_a_query_that_fails_is_named_and_the_other_lists_are_used(river: str) -> None:
    earlier: list[Any] = [HumanMessage("Who opened the toll bridge?"), AIMessage("Queen Adelaide.")]
    state = (
        await build(retrievers={"bridges": Halting()})
        .compile()
        .ainvoke(
            {"messages": [*earlier, HumanMessage("and where is it?")]},
            context=Context(corpus=river, retrievers=("bridges",), grade="none"),
        )
    )
    assert len(state["queries"]) == 2
    (failed,) = state["degraded"]
    assert failed["step"] == "retrieve:bridges"
    assert "the line is dead" in failed["reason"]
    assert state["citations"]
