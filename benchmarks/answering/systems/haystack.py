"""Haystack: QueryExpander, both multi-query retrievers, DocumentJoiner, LLMRanker and a generator in one pipeline."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from haystack import Document, Pipeline, component
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.query import QueryExpander
from haystack.components.rankers import LLMRanker
from haystack.components.retrievers import MultiQueryEmbeddingRetriever, MultiQueryTextRetriever
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.dataclasses import ChatMessage, StreamingChunk
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret

from benchmarks.answering.material import Asked
from benchmarks.answering.rows import DEPTH, Row
from benchmarks.answering.systems import Answer, Ask, Plain

TEMPLATE = """Answer the question from the following context.
----------------
{% for document in documents %}{{ document.content }}

{% endfor %}Question: {{ question }}"""


@component
class Known:
    """Vectors that are known already."""

    def __init__(self, vectors: dict[str, Any]) -> None:
        """Keep the vectors by text."""
        self._vectors = vectors

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        """Look up a query."""
        return {"embedding": self._vectors[text].tolist()}


class System(Plain):
    """One pipeline, run asynchronously."""

    def __init__(self, asked: Asked, folder: Path, base_url: str) -> None:  # noqa: ARG002  # keeps nothing
        """Keep what is needed."""
        self._asked, self._base_url = asked, base_url
        self._store = InMemoryDocumentStore(embedding_similarity_function="dot_product")

    async def build(self) -> None:
        """Write all documents with their vectors."""
        for passages, vectors in self._asked.passages.batches(1000):
            self._store.write_documents(
                [Document(content=p["text"], embedding=v.tolist()) for p, v in zip(passages, vectors, strict=True)]
            )

    async def ready(self, row: Row, saver: str) -> Ask:  # noqa: ARG002  # the protocol has it
        """Make the pipeline."""
        made = Pipeline()
        made.add_component("expander", QueryExpander(chat_generator=self._generator(), n_expansions=3))
        text = MultiQueryTextRetriever(retriever=InMemoryBM25Retriever(self._store, top_k=DEPTH))
        made.add_component("text", text)
        by_vector = InMemoryEmbeddingRetriever(self._store, top_k=DEPTH)
        known: Any = Known(self._asked.vectors)
        made.add_component("vectors", MultiQueryEmbeddingRetriever(retriever=by_vector, query_embedder=known))
        joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=row.settings["rerank"])
        made.add_component("joiner", joiner)
        ranker = LLMRanker(chat_generator=self._generator(), top_k=row.settings["passages"], raise_on_failure=True)
        made.add_component("ranker", ranker)
        made.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(TEMPLATE)], required_variables="*"))
        made.add_component("generator", self._generator())
        for here, there in [
            ("expander.queries", "text.queries"), ("expander.queries", "vectors.queries"),
            ("text.documents", "joiner.documents"), ("vectors.documents", "joiner.documents"),
            ("joiner.documents", "ranker.documents"), ("ranker.documents", "prompt.documents"),
            ("prompt.prompt", "generator.messages"),
        ]:  # fmt: skip
            made.connect(here, there)
        return partial(self._ask, made)

    def _generator(self) -> OpenAIChatGenerator:
        return OpenAIChatGenerator(
            api_key=Secret.from_token("none"), model="stub", api_base_url=self._base_url, max_retries=0
        )

    async def _ask(self, pipeline: Pipeline, question: str) -> Answer:
        """Run the pipeline."""
        times: list[float] = []

        async def streamed(chunk: StreamingChunk) -> None:
            if chunk.content:
                times.append(time.monotonic())

        asked = {"expander": {"query": question}, "ranker": {"query": question}, "prompt": {"question": question}}
        found = await pipeline.run_async({**asked, "generator": {"streaming_callback": streamed}})
        return Answer(found["generator"]["replies"][0].text, times[0] if times else None)
