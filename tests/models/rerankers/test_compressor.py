"""LangChain's document compressors as rerankers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import BaseDocumentCompressor, Document

from anabranch import SettingsError, answer, ingest, search
from anabranch.agent.nodes.settings import Context
from anabranch.errors import ModelError
from anabranch.models.rerankers import RerankerSettings
from anabranch.models.rerankers.compressor import CompressorReranker
from tests.graph.inside import build

TEXTS = ["one", "two two", "three three three"]


class ByLength(BaseDocumentCompressor):
    """Keeps the longest texts, best first; with scores or without."""

    keep: int = 2
    scored: bool = False

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        kept = sorted(documents, key=lambda each: -len(each.page_content))[: self.keep]
        score = (lambda each: {"relevance_score": np.float32(len(each.page_content))}) if self.scored else lambda _: {}
        return [Document(each.page_content.upper(), metadata=each.metadata | score(each)) for each in kept]


class Failing(BaseDocumentCompressor):
    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        raise ConnectionError("the line is dead")


@pytest.fixture(scope="module")
def river(tmp_path_factory: pytest.TempPathFactory) -> str:
    corpus = tmp_path_factory.mktemp("river") / "corpus"
    texts = ["The Halden weir was built by Ida Marrow in 1931.", "A weir.", "The weir was mended."]
    ingest(documents=texts, corpus=corpus)
    return str(corpus)


async def relevance(compressor: BaseDocumentCompressor) -> list[float | None]:
    return await CompressorReranker.from_settings(RerankerSettings(compressor=compressor)).relevance("q", TEXTS)


async def test_its_order_or_its_scores_are_the_relevance() -> None:
    assert await relevance(ByLength()) == [None, 0.5, 1.0]
    assert await relevance(ByLength(scored=True)) == [None, 7.0, 17.0]
    assert await relevance(ByLength(keep=0)) == [None, None, None]


async def test_pieces_of_a_text_speak_for_it_with_the_best() -> None:
    class Cutting(ByLength):
        def compress_documents(
            self, documents: Sequence[Document], query: str, callbacks: Any = None
        ) -> list[Document]:
            one, two, _ = documents
            return [two, one, two]

    assert await relevance(Cutting()) == [0.5, 1.0, None]


async def test_one_that_fails_is_an_error_of_its_provider() -> None:
    with pytest.raises(ModelError, match=r"Failing.*the line is dead"):
        await relevance(Failing())


async def test_the_graph_is_built_with_it_and_a_run_may_name_another(river: str) -> None:
    compiled = build(reranker=ByLength(keep=50), settings={"corpus": river}).compile()
    state = await compiled.ainvoke({"question": "Who built the Halden weir?"})
    assert next(step for step in state["trace"] if step["node"] == "rerank")["counts"]["by"] == "object:ByLength"
    state = await compiled.ainvoke({"question": "Who built the Halden weir?"}, context=Context(rerank="none"))
    assert next(step for step in state["trace"] if step["node"] == "rerank")["counts"]["by"] == "none"


def test_search_and_answer_take_it(river: str) -> None:
    lengths = [len(each.page_content) for each in search("weir", corpus=river, reranker=ByLength(keep=50), top_k=3)]
    assert lengths == sorted(lengths, reverse=True)
    assert len(set(lengths)) == 3
    assert answer("Who built the Halden weir?", corpus=river, reranker=ByLength(keep=50))["citations"]


def test_where_it_fails_the_order_stays_and_that_is_said(river: str) -> None:
    (degraded,) = answer("Who built the Halden weir?", corpus=river, reranker=Failing())["degraded"]
    assert degraded["step"] == "rerank"
    assert "the line is dead" in degraded["reason"]


def test_what_is_none_is_said_where_it_is_given(river: str) -> None:
    for wrong in (3, ByLength):
        with pytest.raises(SettingsError, match="document compressor"):
            build(reranker=wrong)
    with pytest.raises(SettingsError, match="missing now: ByLength"):
        answer("Who?", corpus=river, rerank="object:ByLength")
