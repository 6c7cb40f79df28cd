"""A question in a script that the embedder of the corpus does not read: searched for by its words, and said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever
from rich.console import Console

from anabranch.agent.graph.retrieval import build_search, graph
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import InputState
from anabranch.cli.live_answer import LiveAnswer
from anabranch.ingestion.pipeline import ingest
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus

NOTES = {
    "weir.md": "Плотину на реке построили в 1848 году из дуба.",
    "bees.md": "Пчёлы живут в саду за мельницей.",
    "mill.md": "Мельница стоит у моста; мельник живёт рядом.",
}
QUESTION = "Когда построили плотину?"


@pytest.fixture
async def notes(tmp_path: Path) -> str:
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    await asyncio.to_thread(ingest, tmp_path, tmp_path / "corpus")
    return str(tmp_path / "corpus")


async def found(corpus: str, question: str = QUESTION, **settings: Any) -> dict[str, Any]:
    context = Context(corpus=corpus, strategy="none", **settings)
    state: dict[str, Any] = await graph.ainvoke(InputState(question=question), context=context)
    return state


async def test_it_is_searched_for_by_its_words_and_that_is_said(notes: str) -> None:
    state = await found(notes)
    (only,) = [candidate["id"] for candidate in state["candidates"]]
    assert "1848" in (await (await open_corpus(notes)).chunks([only], Scope()))[only].text
    assert all("dense" not in candidate["ranks"] for candidate in state["candidates"])
    (said,) = state["degraded"]
    assert said["step"] == "retrieve:dense"
    assert "does not read Cyrillic letters: searched by words alone" in said["reason"]


async def test_where_nothing_else_searches_it_is_searched_for_all_the_same(notes: str) -> None:
    state = await found(notes, retrievers=("dense",))
    assert state["candidates"]
    assert "add bm25" in state["degraded"][0]["reason"]


async def test_a_question_in_letters_that_it_reads_is_searched_for_by_both(notes: str) -> None:
    state = await found(notes, "What did the miller build?")
    assert state["degraded"] == []
    assert all("dense" in candidate["ranks"] for candidate in state["candidates"])


async def test_each_branch_reports_how_many_lists_it_looks_for_and_when_they_are_there(notes: str) -> None:
    model = FakeListChatModel(responses=["When was the mill built?\nWho built the weir?\nWhere are the bees?"])
    context = Context(corpus=notes, model=model, retrievers=("bm25", "dense"), n_queries=4)
    stream: AsyncIterator[Any] = graph.astream(
        InputState(question="What did the miller build?"), context=context, stream_mode="custom", subgraphs=True
    )
    events = [event async for _, event in stream if event["status"] in ("searching", "searched")]
    for status in ("searching", "searched"):
        of_status = [event for event in events if event["status"] == status]
        assert sorted((event["retriever"], event["lists"]) for event in of_status) == [("bm25", 4), ("dense", 4)]
    live = LiveAnswer()
    for event in events:
        live.event(event)
    console = Console(file=StringIO(), width=60)
    console.print(live)
    assert "searching: 8 of 8 lists" in console.file.getvalue()  # type: ignore[attr-defined]


class Broken(BaseRetriever):
    """A retriever that is down."""

    def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
        raise OSError("down")


async def test_a_branch_that_fails_has_ended_all_the_same(notes: str) -> None:
    failing = build_search({"broken": Broken()}).compile()
    context = Context(corpus=notes, strategy="none", retrievers=("bm25", "broken"))
    stream: AsyncIterator[Any] = failing.astream(
        InputState(question="What did the miller build?"), context=context, stream_mode="custom", subgraphs=True
    )
    ended = [event["retriever"] async for _, event in stream if event["status"] == "searched"]
    assert sorted(ended) == ["bm25", "broken"]
