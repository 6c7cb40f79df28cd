"""LlamaIndex: a vector index on FaissVectorStore, its BM25Retriever (bm25s) and QueryFusionRetriever.

BM25Retriever takes a filter only when it is made, FaissVectorStore takes none; neither takes a document more, so adding
makes the BM25 retriever again from all nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from llama_index.core import StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.vector_stores import FilterOperator, MetadataFilter, MetadataFilters
from llama_index.retrievers.bm25 import BM25Retriever
from llama_index.vector_stores.faiss import FaissVectorStore

from benchmarks.at_scale.material import DIMENSION, Material, Passage, limit
from benchmarks.at_scale.systems import K

BATCH = 10_000
OWN = ["row", "bucket"]
"""Metadata that neither arm should read as text."""


class Known(BaseEmbedding):
    """Vectors that are known already."""

    vectors: dict[str, Any]

    def _get_query_embedding(self, query: str) -> list[float]:
        found: list[float] = self.vectors[query].tolist()
        return found

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class System:
    """FAISS and bm25s, fused by QueryFusionRetriever."""

    arms = ("bm25", "dense", "hybrid")
    agrees = False

    def __init__(self, material: Material, folder: Path, settings: dict[str, Any]) -> None:
        """Keep what is measured."""
        self._material, self._folder, self._depth = material, folder, settings["depth"]
        self._known = Known(vectors=dict(material.question_vectors))
        self._index: VectorStoreIndex
        self._bm25: BM25Retriever
        self._retrievers: dict[str, Any]
        self._filtered: dict[tuple[str, float], Any] = {}

    def filtered(self, share: float) -> Sequence[str]:  # noqa: ARG002  # the protocol has it
        """Return both arms, though only one can do it."""
        return ("bm25", "dense")

    def prepare(self) -> None:
        """Do nothing: the vectors of questions are known."""

    async def build(self) -> None:
        """Insert all nodes, make the BM25 retriever, persist both."""
        # By inner product: the documented L2 index would let fusion, which takes the larger score, prefer the farthest.
        store = FaissVectorStore(faiss_index=faiss.IndexFlatIP(DIMENSION))
        context = StorageContext.from_defaults(vector_store=store)
        self._index = VectorStoreIndex([], storage_context=context, embed_model=self._known)
        first = 0
        for passages, vectors in self._material.batches(BATCH):
            self._index.insert_nodes(_nodes(passages, vectors, first))
            first += len(passages)
        self._rank()
        await self.save()

    async def open(self) -> None:
        """Load both."""
        store = FaissVectorStore.from_persist_dir(str(self._folder))
        context = StorageContext.from_defaults(vector_store=store, persist_dir=str(self._folder))
        loaded: Any = load_index_from_storage(context, embed_model=self._known)
        self._index = loaded
        self._use(BM25Retriever.from_persist_dir(str(self._folder / "bm25")))

    def _rank(self) -> None:
        self._use(BM25Retriever.from_defaults(docstore=self._index.docstore, similarity_top_k=K))

    def _use(self, bm25: BM25Retriever) -> None:
        self._bm25, self._filtered = bm25, {}
        deep = BM25Retriever(existing_bm25=bm25.bm25, similarity_top_k=self._depth)
        hybrid = QueryFusionRetriever(
            [deep, self._index.as_retriever(similarity_top_k=self._depth)],
            llm=MockLLM(), num_queries=1, similarity_top_k=K, mode="reciprocal_rerank", use_async=False,
        )  # fmt: skip
        dense = self._index.as_retriever(similarity_top_k=K)
        self._retrievers = {"bm25": bm25, "dense": dense, "hybrid": hybrid}

    async def search(self, arm: str, question: str, share: float | None = None) -> list[NodeWithScore]:
        """Search with one retriever, made for the filter where there is one."""
        retriever = self._retriever(arm, share) if share else self._retrievers[arm]
        found: list[NodeWithScore] = retriever.retrieve(question)
        return found

    def _retriever(self, arm: str, share: float) -> Any:  # noqa: ANN401  # of either kind
        if (arm, share) not in self._filtered:
            below = MetadataFilter(key="bucket", value=limit(share), operator=FilterOperator.LT)
            filters = MetadataFilters(filters=[below])
            self._filtered[arm, share] = (
                BM25Retriever(existing_bm25=self._bm25.bm25, similarity_top_k=K, filters=filters)
                if arm == "bm25"
                else self._index.as_retriever(similarity_top_k=K, filters=filters)
            )
        return self._filtered[arm, share]

    async def ready(self, number: int) -> None:
        """Let the text that will be searched for have its vector."""
        _, _, passages, vectors = self._material.added[number]
        self._known.vectors[passages[0]["text"]] = vectors[0]

    async def add(self, number: int) -> bool:
        """Insert the nodes, and make the BM25 retriever again."""
        _, word, passages, vectors = self._material.added[number]
        first = len(self._index.docstore.docs)
        self._index.insert_nodes(_nodes(passages, vectors, first))
        self._rank()
        by_word, by_text = await self.search("bm25", word), await self.search("dense", passages[0]["text"])
        return [found[0].node.metadata["row"] for found in (by_word, by_text)] == [first, first]

    async def save(self) -> None:
        """Persist both, all of them."""
        self._index.storage_context.persist(str(self._folder))
        self._bm25.persist(str(self._folder / "bm25"))

    async def rows(self, found: Sequence[list[NodeWithScore]]) -> list[list[int]]:
        """Return the row that each node has in its metadata."""
        return [[each.node.metadata["row"] for each in nodes] for nodes in found]


def _nodes(passages: Sequence[Passage], vectors: np.ndarray, first: int) -> list[TextNode]:
    return [
        TextNode(
            id_=str(first + place), text=passage["text"], embedding=vector.tolist(),
            metadata={"row": first + place, "bucket": passage["bucket"]},
            excluded_embed_metadata_keys=OWN, excluded_llm_metadata_keys=OWN,
        )
        for place, (passage, vector) in enumerate(zip(passages, vectors, strict=True))
    ]  # fmt: skip
