from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.ingestion.pipeline import ingest
from anabranch.models.onnx_embedder import OnnxEmbedder
from anabranch.retrieval.fusion.missing_scores import complete_lists, queries_for
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from anabranch.types import Query, Retrieved

QUERIES = [
    Query(text="Who built the weir?", weight=1.0, kind="asked"),
    Query(text="The weir was built by Ida Marrow.", weight=0.25, kind="hyde"),
    Query(text="builder of the weir", weight=0.25, kind="multi"),
]
ALL = [query["text"] for query in QUERIES]


@pytest.mark.parametrize(
    ("retriever", "retrievers"),
    [
        ("dense", ("bm25", "dense")),
        ("dense", ("dense",)),
        ("bm25", ("bm25",)),
        ("mine", ("bm25", "mine")),
    ],
)
def test_a_retriever_searches_for_every_query(retriever: str, retrievers: tuple[str, ...]) -> None:
    assert queries_for(retriever, QUERIES, retrievers) == ALL


def test_bm25_leaves_made_up_passages_to_the_others() -> None:
    assert queries_for("bm25", QUERIES, ("bm25", "dense")) == [ALL[0], "", ALL[2]]


@pytest.fixture
def weir(tmp_path: Path) -> Path:
    ingest(documents=["Ida Marrow built the weir in 1820.", "The mill grinds the corn."], corpus=tmp_path / "c")
    return tmp_path / "c"


async def known_shares(corpus: Path, *texts: str) -> list[float | None]:
    reader, scope = await open_corpus(str(corpus)), Scope()
    queries = [Query(text=text, weight=1.0, kind="asked") for text in texts]
    records = [
        Retrieved(retriever=arm, lists=await reader.search(arm, texts, 5, scope), error=None)
        for arm in ("bm25", "dense")
    ]
    _, found = await complete_lists(reader, scope, queries, records)
    return [evidence.known for evidence in found]


async def test_an_embedder_of_many_languages_is_weighed_by_the_words_that_are_known(
    weir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OnnxEmbedder, "is_multilingual", True)
    shares = await known_shares(weir, "Who built weirs?", "Wer baute Ida Marrows Wehr?", "the", "Рыба")
    # Of an English corpus: build and weir; of wer, baut, ida, marrow, wehr two; no word at all; none.
    assert shares == [1.0, 0.4, None, 0.0]


async def test_another_embedder_is_not(weir: Path) -> None:
    assert await known_shares(weir, "Who built weirs?", "Wer baute Ida Marrows Wehr?") == [None, None]
