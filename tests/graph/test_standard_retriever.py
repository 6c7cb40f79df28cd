"""LangChain's own tests of retrievers, with Anabranch's."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch import HybridRetriever, SettingsError, ingest

pytest.importorskip("langchain_tests", reason="the package langchain-tests is not installed")

from langchain_tests.integration_tests import RetrieversIntegrationTests

WORDS = ("heron", "otter", "pike", "swift", "badger", "owl")


@pytest.fixture(scope="module", autouse=True)
def beasts() -> None:
    ingest(documents=[f"The {word} was seen at the weir." for word in WORDS], corpus="memory:standard")


class TestHybridRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[HybridRetriever]:
        return HybridRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"settings": {"corpus": "memory:standard"}}

    @property
    def retriever_query_example(self) -> str:
        return "What was seen at the weir?"


async def test_k_of_a_call_comes_before_k_of_the_retriever_and_that_before_the_default() -> None:
    retriever = HybridRetriever(k=2, settings={"corpus": "memory:standard"})
    assert len(await retriever.ainvoke("weir")) == 2
    assert len(await retriever.ainvoke("weir", k=4)) == 4
    assert len(retriever.invoke("weir", k=1)) == 1
    assert len(HybridRetriever(settings={"corpus": "memory:standard"}).invoke("weir")) == len(WORDS)


@pytest.mark.parametrize("given", [{"k": 0}, {"k": 1001}, {"k": "many"}, {"k": 3, "settings": {"top_k": 3}}])
def test_a_wrong_k_is_refused_when_the_retriever_is_made(given: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="k"):
        HybridRetriever(**given)


def test_a_wrong_k_of_a_call_is_refused() -> None:
    with pytest.raises(SettingsError, match="top_k"):
        HybridRetriever(settings={"corpus": "memory:standard"}).invoke("weir", k=0)
