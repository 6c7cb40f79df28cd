"""Nothing blocks the event loop: what a LangGraph server would refuse raises here too."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langgraph.checkpoint.memory import InMemorySaver

from anabranch import as_tools
from anabranch.agent.graph import answer
from anabranch.agent.nodes import pack
from anabranch.agent.nodes.settings import Context
from anabranch.extracts import best_passages
from anabranch.extracts import composition as composed
from anabranch.text.analyzer import Analyser
from tests.graph.inside import build
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
    copy = tmp_path / "copy"
    shutil.copytree(river, copy)
    with blockbuster_ctx():
        state = (
            await build()
            .compile()
            .ainvoke({"question": "Who built the Halden weir?"}, context=Context(corpus=str(copy)))
        )
    assert "Ida Marrow" in state["answer"]


async def test_the_tools_of_an_agent_never_block(river: str, tmp_path: Path) -> None:
    shutil.copytree(river, tmp_path / "copy")
    tools = {tool.name: tool for tool in as_tools(tmp_path / "copy")}
    with blockbuster_ctx():
        found = json.loads(await tools["search"].ainvoke({"query": "Who built the Halden weir?"}))["items"][0]
        assert "Ida Marrow" in await tools["grep"].ainvoke({"pattern": "Ida * Marrow"})
        whole = json.loads(await tools["read"].ainvoke({"document": found["document_id"]}))
        assert found in whole["items"]
        assert "weir.md" in await tools["list_documents"].ainvoke({})
        assert "Ida Marrow" in await tools["ask"].ainvoke({"question": "Who built the Halden weir?"})


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


def _noted(threads: list[tuple[str, int]], name: str, function: Any) -> Any:
    def noting(*args: Any, **options: Any) -> Any:
        threads.append((name, threading.get_ident()))
        return function(*args, **options)

    return noting


async def test_edges_take_no_thread(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[tuple[str, int]] = []
    monkeypatch.setattr(answer, "after_pack", _noted(threads, "after_pack", answer.after_pack))
    given: Any = {"question": "Who built the Halden weir?"}
    await build().compile().ainvoke(given, context=Context(corpus=river))
    assert threads == [("after_pack", threading.get_ident())]


@pytest.mark.parametrize("question", ["Who built the Halden weir?", "What is the tax rate in Portugal?"])
async def test_texts_are_taken_apart_in_a_thread(question: str, river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked, also where a retriever of somebody else's brings passages."""
    threads: list[tuple[str, int]] = []
    for owner, name in (
        (Analyser, "terms"),
        (composed, "write_answer"),
        (best_passages, "piece_spans"),
    ):
        monkeypatch.setattr(owner, name, _noted(threads, name, getattr(owner, name)))
    note = Document("The weir of Vesle was built in 1904. It is of stone.", id="1", metadata={"source": "note"})

    class External(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [note]

    compiled = build(retrievers={"external": External()}).compile()
    context = Context(corpus=river, retrievers=("bm25", "dense", "external"))
    state = await compiled.ainvoke({"question": question}, context=context)
    assert state["citations"]
    assert {name for name, _ in threads} == {"terms", "write_answer", "piece_spans"}
    assert [name for name, thread in threads if thread == threading.get_ident()] == []


async def test_the_passages_of_whole_documents_are_measured_in_a_thread(
    river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be thousands."""
    threads: list[tuple[str, int]] = []
    monkeypatch.setattr(pack, "bound_tokens", _noted(threads, "bound_tokens", pack.bound_tokens))
    context = Context(corpus=river, coverage="corpus")
    await build().compile().ainvoke({"question": "Who built the Halden weir?"}, context=context)
    assert threads
    assert threading.get_ident() not in {thread for _, thread in threads}
