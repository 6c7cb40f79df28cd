"""The step `abstain`: what it says of the draft, and in which language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.runtime import Runtime

from anabranch.agent.nodes.abstain import abstain
from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus

TRIP = "El tren cuesta 42 euros por persona y sale de la estación a las siete. Nos alojamos en el hotel de la plaza."
LIE = "El tren cuesta 99 euros."


@pytest.fixture
async def leaf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The one leaf of a corpus in Spanish; there is no graph whose stream the answer could be put into."""
    monkeypatch.setattr("anabranch.agent.nodes.abstain.show", lambda *_: None)
    (tmp_path / "viaje.txt").write_text(TRIP, encoding="utf-8")
    ingest([tmp_path / "viaje.txt"], tmp_path / "corpus")
    (ranked,) = await (await open_corpus(tmp_path / "corpus")).search("bm25", ["tren"], 1, Scope())
    return str(ranked["ids"][0])


async def answer(folder: Path, leaf: str, question: str, route: str = "create", said: str = LIE) -> str:
    return await answer_over(folder, [leaf], question, route, said)


async def answer_over(folder: Path, leaves: list[str], question: str, route: str, said: str) -> str:
    state: Any = {
        "original_question": question,
        "standalone_question": question,
        "draft": {"answer": f"{said} [?]", "window": 1, "keeps": 0},
        "unsupported": [said],
        "route": {"name": route, "reasons": []},
        "queries": [],
        "evidence": {"verdict": "enough", "reasons": [], "missing": "", "digest": ""},
        "passages": [
            {"id": leaf, "score": 1.0, "leaves": [leaf], "source": "viaje.txt", "page": None, "preview": ""}
            for leaf in leaves
        ],
        "candidates": [{"id": leaf, "score": 1.0, "ranks": {}, "fused": 1} for leaf in leaves],
        "settings": None,
    }
    return str((await abstain(state, Runtime(context=Context(corpus=str(folder / "corpus")))))["answer"])


@pytest.mark.parametrize(
    ("question", "not_found", "written"),
    [
        ("¿Cuánto vale?", "No encontré la respuesta", "El modelo respondió"),
        ("What is the price of it?", "I did not find the answer", "The model answered"),
    ],
)
async def test_only_what_a_model_wrote_is_said_to_be_its_answer(
    tmp_path: Path, leaf: str, question: str, not_found: str, written: str
) -> None:
    # A question of two words does not tell its language: then it is that of the documents.
    assert (await answer(tmp_path, leaf, question)).startswith(written)
    composed = await answer(tmp_path, leaf, question, "compose")
    assert composed.startswith(not_found)
    assert "99" not in composed


@pytest.mark.parametrize(
    ("route", "first"), [("create", "tercera.txt: Ada Rojas trazó el puente en 1931."), ("compose", "primera.txt: ")]
)
async def test_the_passage_with_the_words_of_an_unsupported_answer_is_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, route: str, first: str
) -> None:
    monkeypatch.setattr("anabranch.agent.nodes.abstain.show", lambda *_: None)
    texts = {
        "primera": "El puente de Halden cruza el río. Quién lo construyó no se sabe.",
        "segunda": "El puente de Halden se construyó en piedra.",
        "tercera": "El río es ancho. Ada Rojas trazó el puente en 1931.",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    ingest([tmp_path / f"{name}.txt" for name in texts], tmp_path / "corpus")
    corpus = await open_corpus(tmp_path / "corpus")
    found = await corpus.search("bm25", [f"{text} río" for text in texts.values()], 1, Scope())
    leaves = [str(ranked["ids"][0]) for ranked in found]
    said = await answer_over(
        tmp_path, leaves, "¿Quién construyó el puente de Halden?", route, "Lo construyó Ada Rojas."
    )
    assert said.partition("Pasajes más cercanos:\n- ")[2].startswith(first)
