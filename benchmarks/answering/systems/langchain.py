"""LangChain: MultiQueryRetriever over EnsembleRetriever, and its stuff, refine and map-reduce chains, streamed."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import faiss
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.chains.question_answering import load_qa_chain
from langchain_classic.retrievers import EnsembleRetriever, MultiQueryRetriever
from langchain_community.docstore.in_memory import InMemoryDocstore
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI

from benchmarks.answering.material import Asked
from benchmarks.answering.rows import DEPTH, Row
from benchmarks.answering.systems import Answer, Ask, Plain
from benchmarks.at_scale.material import DIMENSION
from benchmarks.at_scale.systems.langchain import Known

PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", "Answer the question from the following context.\n----------------\n{context}"),
        ("human", "{question}"),
    ]
)


class _First(AsyncCallbackHandler):
    """When the latest call gave its first token."""

    def __init__(self) -> None:
        self.at: dict[UUID, float] = {}

    async def on_llm_new_token(self, token: str, *, run_id: UUID, **_: object) -> None:
        if token:
            self.at.setdefault(run_id, time.monotonic())


class System(Plain):
    """A retriever and a chain per row."""

    def __init__(self, asked: Asked, folder: Path, base_url: str) -> None:  # noqa: ARG002  # keeps nothing
        """Keep what is needed."""
        self._asked, self._base_url = asked, base_url
        self._ensemble: EnsembleRetriever

    def _model(self, *, streaming: bool = False) -> ChatOpenAI:
        # By its own count it would ask a server on the internet for a tokenizer.
        return ChatOpenAI(
            model="stub", base_url=self._base_url, api_key="none", max_retries=0,
            custom_get_token_ids=lambda text: [0] * len(re.findall(r"\w+|[^\w\s]", text)), streaming=streaming,
        )  # fmt: skip

    async def build(self) -> None:
        """Add all passages to FAISS and BM25."""
        store = FAISS(Known(self._asked.vectors), faiss.IndexFlatL2(DIMENSION), InMemoryDocstore(), {})
        documents = []
        for passages, vectors in self._asked.passages.batches(1000):
            store.add_embeddings(zip([passage["text"] for passage in passages], vectors, strict=True))
            documents += [Document(passage["text"]) for passage in passages]
        self._ensemble = EnsembleRetriever(
            retrievers=[
                BM25Retriever.from_documents(documents, k=DEPTH), store.as_retriever(search_kwargs={"k": DEPTH}),
            ],
            weights=[0.5, 0.5],
        )  # fmt: skip

    async def ready(self, row: Row, saver: str) -> Ask:  # noqa: ARG002  # the protocol has it
        """Make the chain of a row; what a reader sees is streamed."""
        quiet, live = self._model(), self._model(streaming=True)
        retriever = MultiQueryRetriever.from_llm(self._ensemble, quiet, include_original=True)
        chain: Any = {
            "compact": lambda: create_stuff_documents_chain(live, PROMPT),
            "refine": lambda: load_qa_chain(quiet, chain_type="refine", refine_llm=live),
            "tree": lambda: load_qa_chain(quiet, chain_type="map_reduce", reduce_llm=live),
        }[row.settings["synthesis"]]()
        written = _streamed if row.settings["synthesis"] == "compact" else _combined

        async def ask(question: str) -> Answer:
            found = (await retriever.ainvoke(question))[: row.settings["passages"]]
            return await written(chain, question, found)

        return ask


async def _combined(chain: Any, question: str, found: list[Document]) -> Answer:  # noqa: ANN401  # as LangChain does
    tokens = _First()
    said = await chain.ainvoke({"input_documents": found, "question": question}, config={"callbacks": [tokens]})
    return Answer(said["output_text"], max(tokens.at.values(), default=None))


async def _streamed(chain: Any, question: str, found: list[Document]) -> Answer:  # noqa: ANN401  # as LangChain does
    first, text = None, []
    async for piece in chain.astream({"context": found, "question": question}):
        first = first or (time.monotonic() if piece else None)
        text.append(piece)
    return Answer("".join(text), first)
