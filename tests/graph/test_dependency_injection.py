"""What a graph is built with: settings, steps and retrievers of somebody else's."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, StateSnapshot, interrupt
from typing_extensions import TypedDict

from anabranch import Context, CorpusNotFoundError, SettingsError, answer, search
from anabranch.agent.nodes.rerank import rerank
from anabranch.agent.nodes.retrieve import retrieve
from anabranch.agent.nodes.state import State
from tests.graph.inside import build

QUESTION = "Who built the Halden weir?"
TOLL = "The toll bridge at Halden was opened in 1832 by Queen Adelaide."
BRIDGE = "Who opened the toll bridge at Halden?"


class Tolls(BaseRetriever):
    """Finds one passage for every query."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(TOLL, metadata={"source": "tolls"})]


def test_settings_are_those_of_every_run_and_a_run_goes_before_them(river: str) -> None:
    for settings in ({"corpus": river, "top_k": 2}, Context(corpus=river, top_k=2)):
        compiled = build(settings=settings).compile()
        assert len(compiled.invoke({"question": QUESTION})["candidates"]) == 2
        assert len(compiled.invoke({"question": QUESTION}, context=Context(top_k=1))["candidates"]) == 1


def test_settings_go_before_the_environment_and_no_thread_keeps_them(
    river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANABRANCH_TOP_K", "5")
    config = {"configurable": {"thread_id": "1"}}
    compiled = build(settings={"corpus": river, "top_k": 2}).compile(checkpointer=InMemorySaver())
    assert len(compiled.invoke({"question": QUESTION}, config)["candidates"]) == 2
    assert compiled.get_state(config).values["turn"]["settings"] == {}


def test_a_setting_that_is_none_is_refused_when_the_graph_is_built() -> None:
    with pytest.raises(SettingsError, match="no setting 'topk'") as raised:
        build(settings={"topk": 2})
    assert raised.value.hint == "Did you mean 'top_k'?"


def test_a_retriever_that_is_given_is_used_without_being_named_again(river: str) -> None:
    state = build({"tolls": Tolls()}, settings={"corpus": river}).compile().invoke({"question": BRIDGE})
    assert "tolls" in {citation["source"] for citation in state["citations"]}
    assert {step["counts"]["retriever"] for step in state["trace"] if step["node"] == "retrieve"} == {
        "bm25",
        "dense",
        "tolls",
    }
    shown = answer(BRIDGE, corpus=river, retrievers={"tolls": Tolls()})["citations"]
    assert "tolls" in {citation["source"] for citation in shown}
    found = search(BRIDGE, corpus=river, retrievers={"tolls": Tolls()})
    assert TOLL in [each.page_content for each in found]
    assert TOLL not in [each.page_content for each in search(BRIDGE, corpus=river, retrievers=("bm25",))]


@pytest.mark.parametrize("question", [BRIDGE, "Wer hat die Mautbrücke in Halden eröffnet?"])
def test_a_vector_store_alone_needs_no_corpus(question: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    german = "Die Mautbrücke in Halden wurde 1832 von Königin Adelheid eröffnet."
    texts, sources = [TOLL, german], [{"source": "tolls.pdf", "page_number": 3}] * 2
    vectors = InMemoryVectorStore.from_texts(texts, DeterministicFakeEmbedding(size=16), sources)
    compiled = build({"vectors": vectors.as_retriever()}, settings={"retrievers": ("vectors",)}).compile()
    state = compiled.invoke({"question": question})
    assert "1832" in state["answer"]
    (citation, *_) = state["citations"]
    assert (citation["source"], citation["page"]) == ("tolls.pdf", 3)
    assert citation["quote"] in texts
    assert state["degraded"] == []
    assert list(tmp_path.iterdir()) == []


def test_with_a_retriever_of_the_corpus_a_corpus_is_needed(tmp_path: Any) -> None:
    with pytest.raises(CorpusNotFoundError):
        answer(BRIDGE, corpus=tmp_path / "none", retrievers={"tolls": Tolls()})


async def test_a_step_is_replaced_by_its_name(river: str) -> None:
    seen: list[Any] = []

    async def backwards(state: Any, runtime: Any) -> dict[str, Any]:
        seen.append(runtime.context.top_k)
        update = await rerank(state, runtime.turn)
        return {**update, "candidates": update["candidates"][::-1]}

    ours = await build(settings={"corpus": river}).compile().ainvoke({"question": QUESTION})
    compiled = build(nodes={"rerank": backwards}, settings={"corpus": river, "top_k": 7}).compile()
    theirs = await compiled.ainvoke({"question": QUESTION})
    assert seen == [7]
    assert [each["id"] for each in theirs["candidates"]] == [each["id"] for each in ours["candidates"][:7]][::-1]
    (line,) = [step for step in theirs["trace"] if step["node"] == "rerank"]
    assert line["counts"] == {"by": "none", "kept": 7}


def test_a_step_may_block_pause_and_leave_the_runtime_out(river: str) -> None:
    def asking(state: Any) -> dict[str, Any]:
        return {"answer": f"{state['answer']} {interrupt('more?')}", "citations": state["claims"]}

    def none_cited(state: Any) -> dict[str, Any]:
        return {"answer": state["draft"]["answer"], "claims": []}

    nodes = {"cite": none_cited, "finish": asking}
    config = {"configurable": {"thread_id": "1"}}
    compiled = build(nodes=nodes, settings={"corpus": river}).compile(checkpointer=InMemorySaver())
    assert compiled.invoke({"question": QUESTION}, config)["__interrupt__"][0].value == "more?"
    state = compiled.invoke(Command(resume="That is all."), config)
    assert state["answer"].endswith("That is all.")
    assert state["citations"] == []


def test_steps_that_cannot_stand_in_are_refused(river: str) -> None:
    with pytest.raises(SettingsError, match="no step 'rerannk'") as raised:
        build(nodes={"rerannk": lambda state: {}})
    assert raised.value.hint == "Did you mean 'rerank'?"
    with pytest.raises(SettingsError, match="cannot be called"):
        build(nodes={"rerank": dict})
    with pytest.raises(SettingsError, match="returned list"):
        build(nodes={"rerank": lambda state: []}, settings={"corpus": river}).compile().invoke({"question": QUESTION})


def half_a_draft(state: Any) -> dict[str, Any]:
    return {"draft": {"answer": "mine"}}


async def half_a_draft_later(state: Any) -> dict[str, Any]:
    return half_a_draft(state)


@pytest.mark.parametrize("own", [half_a_draft, half_a_draft_later, RunnableLambda(half_a_draft)])
@pytest.mark.parametrize("name", ["retrieve", "rerank", "grade", "retrieval", "pack", "create", "cite", "finish"])
def test_a_value_that_does_not_fit_is_blamed_on_the_step(name: str, own: Any, river: str) -> None:
    compiled = build(nodes={name: own}, settings={"corpus": river}).compile()
    with pytest.raises(SettingsError, match=rf"The step '{name}' returned .* draft\.window: Field required"):
        compiled.invoke({"question": QUESTION})


@pytest.mark.parametrize(
    ("name", "update", "problem"),
    [
        ("begin", {}, "it has no 'turn'"),
        ("rewrite", {}, "it has no 'queries'"),
        ("fuse", {}, "it has no 'candidates'"),
        ("merge", {}, "it has no 'passages'"),
        ("create", {"drafft": "mine"}, "there is no channel 'drafft'"),
        ("create", {"degraded": "x" * 100_000}, "degraded: Input should be a valid list"),
        ("cite", {"claims": [{"text": "x" * 100_000}]}, r"claims\.0"),
    ],
)
def test_what_a_step_lacks_or_invents_is_named(name: str, update: Any, problem: str, river: str) -> None:
    compiled = build(nodes={name: lambda state: update}, settings={"corpus": river}).compile()
    with pytest.raises(SettingsError, match=f"The step '{name}' returned .*{problem}") as raised:
        compiled.invoke({"question": QUESTION})
    assert len(str(raised.value)) < 1_000


def test_a_runnable_that_returns_text_is_named(river: str) -> None:
    own: Any = RunnableLambda(lambda state: "x" * 100_000)
    with pytest.raises(SettingsError, match="The step 'create' returned str") as raised:
        build(nodes={"create": own}, settings={"corpus": river}).compile().invoke({"question": QUESTION})
    assert len(str(raised.value)) < 1_000


def test_a_graph_in_the_place_of_a_step_pauses_and_goes_on(river: str) -> None:
    class Own(State):
        mine: str

    class Returned(TypedDict):
        answer: str
        mine: str

    inner = StateGraph(Own, output_schema=Returned)
    inner.add_node("ask", lambda state: {"mine": interrupt("more?")})
    inner.add_node("write", lambda state: {"answer": state["mine"]})
    inner.add_edge(START, "ask")
    inner.add_edge("ask", "write")
    outer = build(nodes={"finish": inner.compile()}, settings={"corpus": river}).compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    assert outer.invoke({"question": QUESTION}, config)["__interrupt__"][0].value == "more?"
    (task,) = outer.get_state(config, subgraphs=True).tasks
    assert isinstance(task.state, StateSnapshot)
    assert task.state.next == ("ask",)
    assert outer.invoke(Command(resume="Mine."), config)["answer"] == "Mine."


TAKEN = [
    "begin", "cite", "create", "finish", "fuse", "grade", "merge", "pack", "rerank", "retrieval", "retrieve",
    "review_queries", "review_sources", "rewrite",
]  # fmt: skip
"""The steps that a first question, asked without a model, comes to."""


@pytest.mark.parametrize("name", TAKEN)
def test_a_step_that_is_replaced_is_not_taken(name: str, river: str) -> None:
    class ReplacedError(Exception):
        pass

    def own(state: Any) -> dict[str, Any]:
        raise ReplacedError(sorted(state))

    settings: dict[str, Any] = {"corpus": river}
    if name.startswith("review_"):
        settings["review"] = name.removeprefix("review_")
    compiled = build(nodes={name: own}, settings=settings).compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    with pytest.raises(ReplacedError):
        compiled.invoke({"question": QUESTION}, config)


def test_an_own_step_may_give_the_built_in_one_another_state(river: str) -> None:
    async def narrowed(state: Any, runtime: Any) -> dict[str, Any]:
        changed = {**state, "turn": {**state["turn"], "filters": {"source": "weir.md"}}}
        update = await retrieve(changed, runtime.turn.with_state(changed))
        line = {
            "node": "mine",
            "round": "0",
            "ms": 1.0,
            "calls": 5,
            "prompt_tokens": 1,
            "output_tokens": 1,
            "counts": {},
        }
        return {**update, "trace": [line]}

    state = build(nodes={"retrieve": narrowed}, settings={"corpus": river}).compile().invoke({"question": QUESTION})
    assert {passage["source"] for passage in state["passages"]} == {"weir.md"}
    assert state["usage"]["calls"] == 10
    assert [step["node"] for step in state["trace"]].count("retrieve") == 2


async def test_a_turn_that_goes_on_without_its_corpus_has_no_complaint(river: str) -> None:
    compiled = build({"tolls": Tolls()}).compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    await compiled.ainvoke({"question": BRIDGE}, config, context=Context(corpus=river, review="queries"))
    state = await compiled.ainvoke(Command(resume=True), config, context=Context(retrievers=("tolls",)))
    assert state["degraded"] == []
    assert TOLL in {citation["quote"] for citation in state["citations"]}
