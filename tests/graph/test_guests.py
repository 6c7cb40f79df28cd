"""LangChain retrievers in the fan-out."""

from __future__ import annotations

import warnings
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from graph.answer import build
from graph.context import Context

TOLL = "The toll bridge at Halden was opened in 1832 by Queen Adelaide."


class Fixed(BaseRetriever):
    """Finds the same page for every query."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        page = Document(page_content=TOLL, metadata={"source": "bridge.txt", "page": 3})
        return [page, page]


async def test_a_guest_is_fused_packed_and_cited(river: str) -> None:
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

    guest = BM25Retriever.from_texts([TOLL, "Herons nest at Lower Cray."], metadatas=[{"source": "a"}, {"source": "b"}])
    compiled = build(retrievers={"community": guest}).compile()
    state = await compiled.ainvoke(
        {"question": "Who opened the toll bridge at Halden?"},
        context=Context(corpus=river, retrievers=("dense", "community")),
    )
    assert "Queen Adelaide" in state["answer"]
