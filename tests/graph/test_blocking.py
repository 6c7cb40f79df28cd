"""Nothing blocks the event loop: what a LangGraph server would refuse raises here too."""

from __future__ import annotations

from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langgraph.checkpoint.memory import InMemorySaver

from graph.answer import build
from graph.context import Context
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub


async def test_a_turn_without_a_model_never_blocks(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    with blockbuster_ctx():
        state = await compiled.ainvoke(
            {"question": "Who built the Halden weir?"},
            {"configurable": {"thread_id": "1"}},
            context=Context(corpus=river),
        )
    assert "Ida Marrow" in state["answer"]


async def test_opening_a_corpus_never_blocks(river: str, tmp_path: Any) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(river, copy)
    with blockbuster_ctx():
        state = (
            await build()
            .compile()
            .ainvoke({"question": "Who built the Halden weir?"}, context=Context(corpus=str(copy)))
        )
    assert "Ida Marrow" in state["answer"]


@pytest.mark.loopback
@pytest.mark.parametrize("synthesis", ["stuff", "refine", "map_reduce"])
async def test_a_turn_with_a_model_never_blocks(synthesis: str, river: str) -> None:
    with OpenAIStub(model()) as stub, blockbuster_ctx():
        state = await build().compile().ainvoke(
            {"question": "Who built the Halden weir?"},
            context=Context(
                corpus=river, model="openai:stub", base_url=stub.base_url, synthesis=synthesis, window_tokens=80,
                rerank="llm", grade="llm",
            ),
        )  # fmt: skip
    assert state["answer"]
