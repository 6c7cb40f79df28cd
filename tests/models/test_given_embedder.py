"""Embedders that are given as objects, from ingestion to search."""

from __future__ import annotations

import gc
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from anabranch import EmbedderMismatchError, HybridRetriever, SettingsError, answer, build, ingest, open_corpus, search
from anabranch.models.embedders import load_embedder
from anabranch.models.given_embedder import wrap_embedder

WEIR = "The Halden weir was built by Ida Marrow in 1931."
MILL = "The paper mill at Cray was closed by Otto Lindqvist in 1974."


class Letters(Embeddings):
    """Counts letters; questions and passages in two ways, as E5 does."""

    def __init__(self, model: str = "letters") -> None:
        self.model = model
        self.asked: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, *(float(text.lower().count(letter)) for letter in ascii_lowercase)] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        return self.embed_documents([text])[0]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    ingest(documents=[WEIR, MILL], corpus=tmp_path / "c", embedder=Letters())
    return tmp_path / "c"


async def test_questions_are_embedded_by_the_object_that_is_given(corpus: Path) -> None:
    letters = Letters()
    found = search("paper mill", corpus=corpus, embedder=letters, retrievers=("dense",))
    assert found[0].page_content == MILL
    assert letters.asked == ["paper mill"]
    info = await (await open_corpus(corpus)).info()
    assert (info.embedder, info.dimension) == ("Letters(letters)/27", 27)


def test_answer_build_and_the_retriever_take_it(corpus: Path) -> None:
    assert "Ida Marrow" in answer("Who built the Halden weir?", corpus=corpus, embedder=Letters())["answer"]
    graph = build(embedder=Letters(), settings={"corpus": corpus}).compile()
    assert "Ida Marrow" in graph.invoke({"question": "Who built the Halden weir?"})["answer"]
    retriever = HybridRetriever(settings={"corpus": corpus, "top_k": 1}, embedder=Letters())
    assert [found.page_content for found in retriever.invoke("paper mill")] == [MILL]


@pytest.mark.parametrize("other", [DeterministicFakeEmbedding(size=27), Letters("others")])
def test_one_that_does_not_fit_the_corpus_is_refused_at_once(corpus: Path, other: Any) -> None:
    held = wrap_embedder(Letters())
    with pytest.raises(EmbedderMismatchError, match=r"Letters\(letters\)/27"):
        answer("Who?", corpus=corpus, embedder=other)
    with pytest.raises(EmbedderMismatchError, match=r"Letters\(letters\)/27"):
        ingest(documents=["More."], corpus=corpus, embedder=other)
    assert held


def test_another_length_of_vectors_is_another_embedder(tmp_path: Path) -> None:
    ingest(documents=[WEIR], corpus=tmp_path / "c", embedder=DeterministicFakeEmbedding(size=8))
    with pytest.raises(EmbedderMismatchError, match=r"Embedding/8.*Embedding/16"):
        answer("Who?", corpus=tmp_path / "c", embedder=DeterministicFakeEmbedding(size=16))


def test_a_corpus_made_by_name_refuses_an_object(tmp_path: Path) -> None:
    ingest(documents=[WEIR], corpus=tmp_path / "c")
    with pytest.raises(EmbedderMismatchError, match=r"made with the embedder 'onnx.*Letters") as raised:
        answer("Who?", corpus=tmp_path / "c", embedder=Letters())
    assert "Leave `embedder` out" in str(raised.value.hint)


def test_without_the_object_the_corpus_says_what_is_missing(corpus: Path) -> None:
    gc.collect()
    with pytest.raises(EmbedderMismatchError, match=r"given in code.*Letters\(letters\)"):
        answer("Who built the Halden weir?", corpus=corpus)
    with pytest.raises(SettingsError, match="given in code"):
        ingest(documents=["More."], corpus=corpus)


def test_an_object_of_our_own_protocol(tmp_path: Path) -> None:
    minilm = load_embedder("minilm")
    ingest(documents=[WEIR, MILL], corpus=tmp_path / "c", embedder=minilm)
    assert search("paper mill", corpus=tmp_path / "c", embedder=minilm, top_k=1)[0].page_content == MILL


def test_what_fails_says_which_object_it_was(tmp_path: Path) -> None:
    class Broken(Letters):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise ConnectionError("the line is dead")

    with pytest.raises(Exception, match=r"Broken\(letters\).*the line is dead"):
        ingest(documents=[WEIR], corpus=tmp_path / "c", embedder=Broken())
