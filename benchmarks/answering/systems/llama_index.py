"""LlamaIndex: QueryFusionRetriever over FAISS and bm25s, LLMRerank, and its response synthesizers, streamed."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import faiss
from llama_index.core import StorageContext, VectorStoreIndex, get_response_synthesizer
from llama_index.core.postprocessor import LLMRerank
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.llms.openai_like import OpenAILike
from llama_index.retrievers.bm25 import BM25Retriever
from llama_index.vector_stores.faiss import FaissVectorStore

from benchmarks.answering.material import Asked
from benchmarks.answering.rows import DEPTH, Row
from benchmarks.answering.systems import Answer, Ask, Plain
from benchmarks.at_scale.material import DIMENSION
from benchmarks.at_scale.systems.llama_index import Known

WINDOW = 3900
"""LlamaIndex's own default for a model that it does not know."""

MODES = {"compact": "compact", "refine": "refine", "tree": "tree_summarize"}


class System(Plain):
    """A query engine per row."""

    def __init__(self, asked: Asked, folder: Path, base_url: str) -> None:  # noqa: ARG002  # keeps nothing
        """Keep what is needed."""
        self._asked, self._base_url = asked, base_url
        self._index: VectorStoreIndex
        self._bm25: BM25Retriever

    async def build(self) -> None:
        """Insert all nodes into FAISS, by inner product, and into bm25s."""
        store = FaissVectorStore(faiss_index=faiss.IndexFlatIP(DIMENSION))
        context = StorageContext.from_defaults(vector_store=store)
        self._index = VectorStoreIndex([], storage_context=context, embed_model=Known(vectors=self._asked.vectors))
        for passages, vectors in self._asked.passages.batches(1000):
            self._index.insert_nodes(
                [TextNode(text=p["text"], embedding=v.tolist()) for p, v in zip(passages, vectors, strict=True)]
            )
        self._bm25 = BM25Retriever.from_defaults(docstore=self._index.docstore, similarity_top_k=DEPTH)

    async def ready(self, row: Row, saver: str) -> Ask:  # noqa: ARG002  # the protocol has it
        """Make the engine of a row."""
        settings = row.settings
        llm = OpenAILike(
            model="stub", api_base=self._base_url, api_key="none", is_chat_model=True, max_retries=0,
            context_window=settings.get("window", WINDOW), max_tokens=256,
        )  # fmt: skip
        reranked: int = settings.get("rerank", 0)
        retriever = QueryFusionRetriever(
            [self._index.as_retriever(similarity_top_k=DEPTH), self._bm25], llm=llm, num_queries=4,
            similarity_top_k=reranked or settings["passages"], mode="reciprocal_rerank", use_async=True,
        )  # fmt: skip
        modes: Any = MODES[settings["synthesis"]]
        engine = RetrieverQueryEngine(
            retriever,
            get_response_synthesizer(llm=llm, response_mode=modes, use_async=True, streaming=True),
            [LLMRerank(llm=llm, choice_batch_size=5, top_n=settings["passages"])] if reranked else [],
        )
        return partial(self._ask, engine)

    async def _ask(self, engine: RetrieverQueryEngine, question: str) -> Answer:
        """Query the engine, and read its stream."""
        response: Any = await engine.aquery(question)
        first, text = None, []
        async for piece in response.async_response_gen():
            first = first or time.monotonic()
            text.append(piece)
        return Answer("".join(text), first)
