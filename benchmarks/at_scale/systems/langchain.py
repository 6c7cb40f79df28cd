"""LangChain: the FAISS vector store, BM25Retriever and EnsembleRetriever, as their documentation shows them.

BM25Retriever has no way to be saved, so opening makes it again; it has no way to add, so adding makes it again, too.
Only FAISS takes a filter, which looks at what the search has found: `fetch_k` rows, 20 if nobody says more.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.docstore.in_memory import InMemoryDocstore
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from benchmarks.at_scale.material import DIMENSION, Material, Passage, limit
from benchmarks.at_scale.systems import K

BATCH = 10_000
FETCH_K = 20
SLACK = 3
"""How many times the rows are fetched of which 10 should pass, so that some 10 do."""


class Known(Embeddings):
    """Vectors that are known already."""

    def __init__(self, vectors: dict[str, np.ndarray]) -> None:
        """Keep the vectors by text."""
        self.vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Look up passages."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Look up a question."""
        found: list[float] = self.vectors[text].tolist()
        return found


class System:
    """FAISS and BM25, fused by EnsembleRetriever."""

    arms = ("bm25", "dense", "hybrid")
    agrees = False

    def __init__(self, material: Material, folder: Path, settings: dict[str, Any]) -> None:
        """Keep what is measured."""
        self._material, self._folder, self._depth = material, folder, settings["depth"]
        self._embeddings = Known(dict(material.question_vectors))
        self._filters = {share: {"bucket": {"$lt": limit(share)}} for share in material.shares}
        self._store: FAISS
        self._documents: list[Document]
        self._retrievers: dict[str, Any]

    def filtered(self, share: float) -> Sequence[str]:
        """Return the default, and as many rows fetched as the filter needs."""
        needed = min(self._material.size, round(SLACK * K / share))
        return (f"dense, fetch_k {FETCH_K}", f"dense, fetch_k {needed}")

    def prepare(self) -> None:
        """Do nothing: the vectors of questions are known."""

    async def build(self) -> None:
        """Add all passages, make the BM25 retriever, save what can be saved."""
        index = faiss.IndexFlatL2(DIMENSION)
        self._store = FAISS(self._embeddings, index, InMemoryDocstore(), {})
        for passages, vectors in self._material.batches(BATCH):
            self._add(passages, vectors, first=self._store.index.ntotal)
        self._rank()
        await self.save()

    def _add(self, passages: Sequence[Passage], vectors: np.ndarray, first: int) -> None:
        self._store.add_embeddings(
            zip([passage["text"] for passage in passages], vectors, strict=True),
            metadatas=[{"row": first + place, "bucket": each["bucket"]} for place, each in enumerate(passages)],
            ids=[str(first + place) for place in range(len(passages))],
        )

    async def open(self) -> None:
        """Load FAISS, and make the BM25 retriever again."""
        self._store = FAISS.load_local(
            str(self._folder), self._embeddings, allow_dangerous_deserialization=True
        )  # its only format; this process has written it
        self._rank()

    def _rank(self) -> None:
        names = self._store.index_to_docstore_id.values()
        self._documents = [self._store.docstore.search(name) for name in names]
        bm25 = BM25Retriever.from_documents(self._documents, k=K)
        deep = bm25.model_copy(update={"k": self._depth})
        dense = self._store.as_retriever(search_kwargs={"k": K})
        hybrid = EnsembleRetriever(
            retrievers=[deep, self._store.as_retriever(search_kwargs={"k": self._depth})], weights=[0.5, 0.5]
        )
        self._retrievers = {"bm25": bm25, "dense": dense, "hybrid": hybrid}

    async def search(self, arm: str, question: str, share: float | None = None) -> list[Document]:
        """Search with one retriever; its thread is ours, because `ainvoke` only adds one to the same work."""
        if share:
            fetch_k = int(arm.rsplit(maxsplit=1)[-1])
            return self._store.similarity_search(question, k=K, filter=self._filters[share], fetch_k=fetch_k)
        found: list[Document] = self._retrievers[arm].invoke(question)
        return found[:K]

    async def ready(self, number: int) -> None:
        """Let the text that will be searched for have its vector."""
        _, _, passages, vectors = self._material.added[number]
        self._embeddings.vectors[passages[0]["text"]] = vectors[0]

    async def add(self, number: int) -> bool:
        """Add to FAISS, and make the BM25 retriever again."""
        _, word, passages, vectors = self._material.added[number]
        first = self._store.index.ntotal
        self._add(passages, vectors, first)
        self._rank()
        found = [*await self.search("bm25", word), *await self.search("dense", passages[0]["text"])]
        return [each.metadata["row"] for each in (found[0], found[K])] == [first, first]

    async def save(self) -> None:
        """Write FAISS and the documents, all of them."""
        self._store.save_local(str(self._folder))

    async def rows(self, found: Sequence[list[Document]]) -> list[list[int]]:
        """Return the row that each document has in its metadata."""
        return [[document.metadata["row"] for document in each] for each in found]
