"""What is searched for: the question first and heaviest, and no more than was asked for, whatever a model writes."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from anabranch.agent.graph.retrieval import graph
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import InputState
from anabranch.agent.prompts import REWRITE
from tests.graph.conftest import river  # noqa: F401  # fixture
from tests.graph.inside import build
from tests.graph.replies import model, rounds_of
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import route

QUESTION = "Who opened the lock at Lower Cray?"
PASSAGES = "The lock at Lower Cray was opened by a mayor.\nA lock keeper opens the gates at dawn."


async def found(stub: OpenAIStub, corpus: str, **settings: Any) -> dict[str, Any]:
    context = Context(corpus=corpus, model="openai:stub", base_url=stub.base_url, model_retries=0, **settings)
    state: dict[str, Any] = await graph.ainvoke(InputState(question=QUESTION), context=context)
    return state


def says(text: str) -> Any:
    return route({"Write one per line": Reply(text)})


def lists(state: dict[str, Any]) -> dict[str, list[int]]:
    """How long each list of each retriever is, in the order of the queries."""
    steps = [step for step in state["trace"] if step["node"] == "retrieve"]
    return {step["counts"]["retriever"]: step["counts"]["lists"] for step in steps}


async def test_without_a_model_the_question_alone_is_searched_for(river: str) -> None:  # noqa: F811
    state = await graph.ainvoke(InputState(question=QUESTION), context=Context(corpus=river))
    assert state["queries"] == [{"text": QUESTION, "weight": 1.0, "kind": "asked"}]
    assert state["degraded"] == []
    assert all(len(of_retriever) == 1 for of_retriever in lists(state).values())


@pytest.mark.loopback
@pytest.mark.parametrize("strategy", list(REWRITE))
async def test_the_question_outweighs_all_that_was_made_from_it(river: str, strategy: str) -> None:  # noqa: F811
    with OpenAIStub(says("\n".join(f"{n}. lock gates {n}" for n in range(1, 500)))) as stub:
        state = await found(stub, river, strategy=strategy, n_queries=5)
    asked, *derived = state["queries"]
    assert asked == {"text": QUESTION, "weight": 1.0, "kind": "asked"}
    assert [query["text"] for query in derived] == [f"lock gates {n}" for n in range(1, 5)]
    assert {query["kind"] for query in derived} == {strategy}
    assert sum(query["weight"] for query in derived) == pytest.approx(0.5)


@pytest.mark.loopback
async def test_what_further_queries_weigh_can_be_set_and_decides(river: str) -> None:  # noqa: F811
    found_by = {}
    for weight in (0.01, 3.0):
        with OpenAIStub(says("keeper opens the gates at dawn\nlock keeper gates\ndawn gates keeper")) as stub:
            state = await found(stub, river, n_queries=4, variant_weight=weight, fusion="rrf", strategy="multi")
        found_by[weight] = [candidate["id"] for candidate in state["candidates"]]
        assert [query["weight"] for query in state["queries"]] == pytest.approx([1.0, *[weight / 3] * 3])
    assert found_by[0.01] != found_by[3.0]


@pytest.mark.loopback
@pytest.mark.parametrize("reply", ["", QUESTION, "None", "<think>Which lock?", "I'm sorry, I can't help with that."])
async def test_a_reply_without_a_query_leaves_the_question(river: str, reply: str) -> None:  # noqa: F811
    with OpenAIStub(says(reply)) as stub:
        state = await found(stub, river, strategy="decompose")
    assert [query["kind"] for query in state["queries"]] == ["asked"]
    assert state["candidates"]


@pytest.mark.loopback
async def test_one_query_is_the_question_and_costs_no_call(river: str) -> None:  # noqa: F811
    with OpenAIStub(says("lock gates")) as stub:
        state = await found(stub, river, n_queries=1)
        assert stub.calls == []
    assert [query["kind"] for query in state["queries"]] == ["asked"]


@pytest.mark.loopback
async def test_a_made_up_passage_is_searched_for_by_its_meaning_alone(river: str) -> None:  # noqa: F811
    with OpenAIStub(says(PASSAGES)) as stub:
        state = await found(stub, river, strategy="hyde")
        alone = await found(stub, river, strategy="hyde", retrievers=("bm25",))
    assert [query["kind"] for query in state["queries"]] == ["asked", "hyde", "hyde"]
    words, meanings = lists(state)["bm25"], lists(state)["dense"]
    assert words[0] > 0
    assert words[1:] == [0, 0]
    assert min(meanings) > 0
    assert min(lists(alone)["bm25"]) > 0


@pytest.mark.loopback
async def test_what_a_person_wrote_stays_in_further_rounds(river: str) -> None:  # noqa: F811
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "reviewed"}}
    lacking = Reply('{"sufficient": false, "missing": "the name of the mayor"}')
    with OpenAIStub(model(grade=lacking)) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, grade="llm", review="queries")
        await compiled.ainvoke({"question": QUESTION}, config, context=context)
        state = await compiled.ainvoke(Command(resume=["lock keeper of Lower Cray"]), config, context=context)
    assert rounds_of(state) == 2
    assert state["queries"][0]["text"] == "lock keeper of Lower Cray"
    assert {query["kind"] for query in state["queries"][1:]} == {"multi"}


async def test_without_a_model_there_is_no_further_round(river: str) -> None:  # noqa: F811
    compiled = build().compile()
    state = await compiled.ainvoke({"question": "What is the mayor's horse called?"}, context=Context(corpus=river))
    assert rounds_of(state) == 1
