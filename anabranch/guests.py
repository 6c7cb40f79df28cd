"""Lets any LangChain retriever join the fan-out: its documents become chunks of their own, ranked as it ranked them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from langchain_core.documents import Document as LangChainDocument
from langchain_core.retrievers import BaseRetriever

from anabranch.corpus.document import Chunk
from anabranch.corpus.reading.cleaning import clean
from anabranch.corpus.store import RankedList

MAX_CHARS = 4_000
"""A guest's text travels in the state, so it is bounded."""


async def guest_lists(
    retriever: BaseRetriever, name: str, texts: Sequence[str], k: int
) -> tuple[list[RankedList], dict[str, dict[str, Any]]]:
    """Ask a LangChain retriever each query, at the same time.

    Returns:
        One ranked list per query (scores are 1/rank: LangChain retrievers give none), and the chunks they name.
    """
    results = await asyncio.gather(*(retriever.ainvoke(text) for text in texts))
    chunks: dict[str, dict[str, Any]] = {}
    lists: list[RankedList] = []
    for documents in results:
        ids: list[str] = []
        for document in documents[:k]:
            chunk = _chunk(document, name)
            if chunk.text and chunk.chunk_id not in ids:
                ids.append(chunk.chunk_id)
                chunks[chunk.chunk_id] = asdict(chunk)
        lists.append(RankedList(ids=ids, scores=[1.0 / rank for rank in range(1, len(ids) + 1)]))
    return lists, chunks


def _chunk(document: LangChainDocument, name: str) -> Chunk:
    text = clean(document.page_content).strip()[:MAX_CHARS]
    source = str(document.metadata.get("source") or document.id or name)
    page = document.metadata.get("page")
    digest = hashlib.sha256(f"{name}\0{source}\0{text}".encode()).hexdigest()[:16]
    return Chunk(
        chunk_id=f"{name}:{digest}",
        doc_id=f"{name}:{source}",
        doc_key=source,
        source=source,
        title=str(document.metadata.get("title") or source),
        heading="",
        page=page if isinstance(page, int) else None,
        page_end=None,
        level=2,
        parent_id=None,
        start=0,
        end=len(text),
        text=text,
        tokens=len(text) // 4 + 1,
    )
