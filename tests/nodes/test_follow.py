"""The step that finds a value: what a model may write, and what an edited thread may ask of it."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch.agent.graph.state_validation import check_values
from anabranch.agent.nodes.follow import follow
from anabranch.ingestion.pipeline import ingest
from anabranch.store.memory import forget
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from anabranch.types import NO_CHAIN, NO_EVIDENCE
from tests.nodes.turns import record, turn_of
from tests.servers.openai_stub import OpenAIStub

PAPERS = "The papers about the Ashby bridge have the number 12 since 1911. Mira Solano keeps them with Edda Brandt."
STEPS = ["Which number do the papers have?", "Who bound file {found}?"]
LINK = {"asked": "x", "value": "12", "chunk_id": "x", "start": 0, "end": 2, "query": "Who bound file 12?", "hop": 1}


async def followed(reply: str, **chain: Any) -> tuple[dict[str, Any], int]:
    """Return the update of the step over one passage, and the calls that it made."""
    address = "memory:follow"
    ingest(documents=[PAPERS], corpus=address)
    try:
        corpus = await open_corpus(address)
        (found,) = await corpus.search("bm25", ["papers"], 5, Scope())
        leaf = found["ids"][0]
        passage = {"id": leaf, "score": 1.0, "leaves": [leaf], "source": "", "page": None, "preview": ""}
        state: Any = {
            "turn": record("Who bound the file?"), "queries": [], "trace": [], "evidence": NO_EVIDENCE,
            "candidates": [{"id": leaf, "score": 1.0, "ranks": {}, "fused": 1}], "passages": [passage],
            "chain": {**NO_CHAIN, "steps": STEPS, **chain},
        }  # fmt: skip
        with OpenAIStub(reply) as stub:
            turn = turn_of("follow", state, corpus=address, model="openai:stub", base_url=stub.base_url)
            return await follow(state, turn), len(stub.calls)
    finally:
        forget(address)


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ("12", ["12"]), ("12.", ["12"]), ('"12"', ["12"]), ("- 12", ["12"]),
        ("Mira Solano\nEdda Brandt", ["Mira Solano", "Edda Brandt"]),
        ("1. Mira Solano\n2. Edda Brandt", ["Mira Solano", "Edda Brandt"]), ('["Mira Solano"]', ["Mira Solano"]),
        ("Mira Solano\nMira Solano", ["Mira Solano"]), ("<think>Edda Brandt</think>Mira Solano", ["Mira Solano"]),
        ("Utopia\nMira Solano", ["Mira Solano"]), ("12\n1911\nMira Solano", ["12", "1911"]),
    ],
)  # fmt: skip
async def test_values_are_read_in_many_forms(reply: str, values: list[str]) -> None:
    update, _ = await followed(reply)
    assert [link["value"] for link in update["chain"]["links"]] == values
    assert [query["text"] for query in update["queries"]] == [f"Who bound file {value}?" for value in values]
    assert [candidate["score"] for candidate in update["chain"]["before"]] == [1.0]


@pytest.mark.loopback
@pytest.mark.parametrize("reply", ["None", "...", "Utopia", "13", "The papers have the number 12", "{}", "N/A"])
async def test_without_a_value_the_chain_ends_and_nothing_is_asked(reply: str) -> None:
    update, calls = await followed(reply)
    assert "no passage holds a value" in update["chain"]["ended"]
    assert "queries" not in update
    assert calls == 1


@pytest.mark.loopback
async def test_a_value_that_the_question_has_is_no_news() -> None:
    update, _ = await followed("12", steps=["Who bound file 12?", "Where is {found}?"])
    assert update["chain"]["links"] == []


@pytest.mark.loopback
@pytest.mark.parametrize("question", ["Which file is of 1912?", "Which file has 12.5 pages?", "Which file is 12b?"])
async def test_a_value_is_news_though_a_word_of_the_question_has_its_letters(question: str) -> None:
    update, _ = await followed("12", steps=[question, "Where is {found}?"])
    assert [link["value"] for link in update["chain"]["links"]] == ["12"]


@pytest.mark.loopback
async def test_a_long_step_ends_a_chain_and_not_the_question() -> None:
    """The state of a thread has a bound for the reason, beyond which no step would take it."""
    links = [{**LINK, "value": letter * 60} for letter in "AB"]
    step = "Where did " + "{found} and " * 30 + "live?"
    update, _ = await followed("None", steps=["Who?", step, "And {found}?"], links=links)
    check_values({"chain": update["chain"]})
    assert update["chain"]["ended"].startswith("no passage holds a value")


@pytest.mark.parametrize(
    "chain", [{"links": [{**LINK, "hop": 7}]}, {"steps": []}, {"links": [LINK]}, {"ended": "the model failed"}]
)
@pytest.mark.loopback
async def test_an_edited_thread_without_a_further_step_asks_nobody(chain: dict[str, Any]) -> None:
    update, calls = await followed("12", **chain)
    assert update == {"chain": {**NO_CHAIN, "steps": STEPS, **chain, "ended": "the plan has no further step"}}
    assert calls == 0
