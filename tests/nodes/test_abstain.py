"""The step `abstain`: what it says of the draft, and in which language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.graph.running_turn import RunningTurn
from anabranch.agent.nodes.abstain import abstain
from anabranch.extracts.nearest_passages import find_nearest
from anabranch.ingestion.pipeline import ingest
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from anabranch.types import NOT_CHECKED
from tests.nodes.turns import record, turn_of

TRIP = "El tren cuesta 42 euros por persona y sale de la estación a las siete. Nos alojamos en el hotel de la plaza."
LIE = "El tren cuesta 99 euros."


@pytest.fixture
async def leaf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The one leaf of a corpus in Spanish; there is no graph whose stream the answer could be put into."""
    monkeypatch.setattr(RunningTurn, "show_answer", lambda *_: None)
    (tmp_path / "viaje.txt").write_text(TRIP, encoding="utf-8")
    ingest([tmp_path / "viaje.txt"], tmp_path / "corpus")
    (ranked,) = await (await open_corpus(tmp_path / "corpus")).search("bm25", ["tren"], 1, Scope())
    return str(ranked["ids"][0])


def found(leaves: list[str], question: str) -> Any:
    """Return a state in which a model has answered from some leaves."""
    return {
        "turn": record(question),
        "draft": {"answer": f"{LIE} [?]", "window": 1, "keeps": 0},
        "route": {"name": "create", "reasons": []},
        "queries": [],
        "evidence": {"verdict": "enough", "reasons": [], "missing": "", "digest": "", "scores": {}},
        "passages": [
            {"id": leaf, "score": 1.0, "leaves": [leaf], "source": "viaje.txt", "page": None, "preview": ""}
            for leaf in leaves
        ],
        "candidates": [{"id": leaf, "score": 1.0, "ranks": {}, "fused": 1} for leaf in leaves],
        "check": NOT_CHECKED,
    }


@pytest.mark.parametrize(
    ("question", "not_found"),
    [("¿Cuánto vale?", "No encontré la respuesta"), ("What is the price of it?", "I did not find the answer")],
)
async def test_what_a_model_wrote_is_no_part_of_what_was_not_found(
    tmp_path: Path, leaf: str, question: str, not_found: str
) -> None:
    # A question of two words does not tell its language: then it is that of the documents.
    state = found([leaf], question)
    update = await abstain(state, turn_of("abstain", state, corpus=str(tmp_path / "corpus")))
    assert (update["check"]["status"], update["claims"]) == ("not_found", [])
    assert update["answer"].startswith(not_found)
    assert "99" not in update["answer"]


@pytest.mark.parametrize(
    ("said", "first"),
    [("Lo construyó Ada Rojas.", "tercera.txt: Ada Rojas trazó el puente en 1931."), ("", "primera.txt: ")],
)
async def test_the_passage_with_the_words_of_an_unconfirmed_answer_is_the_nearest(
    tmp_path: Path, said: str, first: str
) -> None:
    texts = {
        "primera": "El puente de Halden cruza el río. Quién lo construyó no se sabe.",
        "segunda": "El puente de Halden se construyó en piedra.",
        "tercera": "El río es ancho. Ada Rojas trazó el puente en 1931.",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    ingest([tmp_path / f"{name}.txt" for name in texts], tmp_path / "corpus")
    corpus = await open_corpus(tmp_path / "corpus")
    ranked = await corpus.search("bm25", [f"{text} río" for text in texts.values()], 1, Scope())
    ids = [str(each["ids"][0]) for each in ranked]
    chunks = await corpus.chunks(ids, Scope())
    question = "¿Quién construyó el puente de Halden?"
    nearest = await find_nearest(corpus, [chunks[chunk_id] for chunk_id in ids], question, question, said)
    assert nearest.block.startswith(f"Pasajes más cercanos:\n- {first}")
