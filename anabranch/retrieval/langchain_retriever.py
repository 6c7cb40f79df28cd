"""Lets any LangChain retriever join the fan-out: its documents become chunks of their own, ranked as it ranked them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

from langchain_core.documents import Document as LangChainDocument
from langchain_core.retrievers import BaseRetriever

from anabranch.errors import SettingsError
from anabranch.readers.document import Chunk
from anabranch.readers.langchain_document import page_of
from anabranch.retrieval import RETRIEVERS
from anabranch.store.protocol import RankedList
from anabranch.text.normalization import clean

# The text of an external passage travels in the state, so it is bounded.
MAX_CHARS = 4_000


@lru_cache(maxsize=32)
def installed_retriever(name: str) -> BaseRetriever:
    """Return the retriever that an installed package adds under that name, made once per process.

    Raises:
        SettingsError: There is none, or its package does not make a LangChain retriever.
    """
    retriever = RETRIEVERS.get(name)()
    if not isinstance(retriever, BaseRetriever):
        msg = f"The package that adds the retriever {name!r} returns {retriever!r}, which is not a LangChain retriever."
        raise SettingsError(msg, hint="Its entry point must name a subclass of langchain_core's BaseRetriever.")
    return retriever


async def external_lists(
    retriever: BaseRetriever, name: str, texts: Sequence[str], k: int, count: Callable[[list[str]], Sequence[int]]
) -> tuple[list[RankedList], dict[str, dict[str, Any]], list[Exception]]:
    """Ask a LangChain retriever each query, at the same time.

    Returns:
        One ranked list per query (scores are 1/rank: LangChain retrievers give none; empty for a query that failed),
        the chunks they name, and the errors.

    Raises:
        Exception: The error of the first query, if every query failed.
    """
    # Collect the errors: one query that times out must not cost the others their passages.
    results = await asyncio.gather(*(retriever.ainvoke(text) for text in texts), return_exceptions=True)
    failed = [result for result in results if isinstance(result, Exception)]
    if failed and len(failed) == len(results):
        raise failed[0]
    chunks: dict[str, Chunk] = {}
    lists: list[RankedList] = []
    for documents in results:
        if isinstance(documents, BaseException) and not isinstance(documents, Exception):
            raise documents  # the run is being cancelled
        found = [] if isinstance(documents, Exception) else [_chunk(document, name) for document in documents[:k]]
        ids = list(dict.fromkeys(chunk.chunk_id for chunk in found if chunk.text))
        chunks |= {chunk.chunk_id: chunk for chunk in found if chunk.text}
        lists.append(RankedList(ids=ids, scores=[1.0 / rank for rank in range(1, len(ids) + 1)]))
    tokens = await asyncio.to_thread(count, [chunk.text for chunk in chunks.values()])
    brought = {
        chunk_id: asdict(replace(chunk, tokens=length))
        for (chunk_id, chunk), length in zip(chunks.items(), tokens, strict=True)
    }
    return lists, brought, failed


def _chunk(document: LangChainDocument, name: str) -> Chunk:
    text = clean(document.page_content).strip()[:MAX_CHARS]
    source = str(document.metadata.get("source") or document.id or name)
    # A passage found by two queries needs one id, so that fusion can see it.
    digest = hashlib.sha256(f"{name}\0{source}\0{text}".encode()).hexdigest()[:16]
    return Chunk(
        chunk_id=f"{name}:{digest}",
        doc_id=f"{name}:{source}",
        doc_key=source,
        source=source,
        title=str(document.metadata.get("title") or source),
        heading="",
        page=page_of(document.metadata),
        page_end=None,
        level=2,
        parent_id=None,
        start=0,
        end=len(text),
        text=text,
        tokens=0,
    )
