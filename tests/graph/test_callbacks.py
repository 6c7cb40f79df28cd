"""A callback handler of LangChain's, as LangSmith and Langfuse have one, follows the steps and the model's calls."""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.outputs import LLMResult
from langgraph.checkpoint.memory import InMemorySaver

from anabranch.agent.graph.answer import build, graph
from anabranch.agent.nodes.settings import Context

QUESTION = {"question": "Who built the Halden weir?"}


class Recorder(BaseCallbackHandler):
    """Keeps what a tracer is told: who began below whom, by name, and what was sent to a model in which step."""

    def __init__(self) -> None:
        self.names: dict[UUID, str] = {}
        self.below: dict[UUID, UUID | None] = {}
        self.ended: set[UUID] = set()
        self.prompts: defaultdict[str, list[str]] = defaultdict(list)
        self.models: set[UUID] = set()

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **options: Any
    ) -> None:
        self.names[run_id], self.below[run_id] = options["name"], parent_run_id

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **options: Any) -> None:
        self.ended.add(run_id)

    def on_chat_model_start(
        self, serialized: Any, messages: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **options: Any
    ) -> None:
        self.models.add(run_id)
        self.below[run_id] = parent_run_id
        self.prompts[options["metadata"]["langgraph_node"]].append(messages[0][-1].text)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **options: Any) -> None:
        self.ended.add(run_id)

    def parents(self, run_id: UUID) -> list[str]:
        """Return the names of the runs that one hangs below, the nearest first."""
        above = self.below[run_id]
        return [] if above is None else [self.names[above], *self.parents(above)]


def context(corpus: str) -> Context:
    return Context(corpus=corpus, model=FakeListChatModel(responses=["Ida Marrow built the weir."]), grade="none")


def test_it_sees_every_step_below_the_run_and_each_model_call_below_its_step(river: str) -> None:
    seen = Recorder()
    state = graph.invoke(QUESTION, {"callbacks": [seen]}, context=context(river))
    assert {step["node"] for step in state["trace"]} <= set(seen.names.values())
    (root,) = [run for run, above in seen.below.items() if above is None]
    assert seen.names[root] == "answer"
    assert {"rewrite", "create"} <= set(seen.prompts)
    assert any("Halden weir" in prompt for prompt in seen.prompts["create"])
    for call in seen.models:
        node, *above = seen.parents(call)
        assert node in seen.prompts
        assert above[-1] == "answer"
    assert seen.ended == set(seen.below)


async def test_a_graph_that_was_compiled_by_hand_tells_it_the_same(river: str) -> None:
    seen = Recorder()
    compiled = build().compile(checkpointer=InMemorySaver()).with_config(max_concurrency=8)
    config = {"configurable": {"thread_id": "traced"}, "callbacks": [seen]}
    await compiled.ainvoke(QUESTION, config, context=context(river))
    assert {"retrieval", "retrieve", "fuse", "create", "cite", "finish"} <= set(seen.names.values())
    assert sum(name == "retrieve" for name in seen.names.values()) == 2
    assert len(seen.models) == sum(len(sent) for sent in seen.prompts.values()) >= 2
