"""Kept answers: the same question of the same documents in the same way gets the answer of before; no other does."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite.aio import AsyncSqliteStore
from langgraph.types import Command

import prompts
from anabranch.caching import ENTRIES
from anabranch.corpus.ingest import ingest
from graph.answer import build, graph
from graph.context import Context
from nodes import keeping, recall
from tests.graph.replies import model
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

pytestmark = pytest.mark.loopback

QUESTION = "What measures protect the town from floods on the Halden?"
REPLY = 'Three measures protect the town [1].\n\nQUOTES:\n[1] "Three measures protect the town"'
OF_ONE_RUN = {"messages", "message_id", "trace", "usage", "lookup", "draft", "speculation"}
VISIBLE = ("answer", "citations", "abstained", "unsupported", "route", "windows", "passages", "queries", "standalone")


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
    keeping.MEMORY.clear()
    yield
    keeping.MEMORY.clear()


@pytest.fixture
def stub() -> Iterator[OpenAIStub]:
    with OpenAIStub(model()) as found:
        yield found


def settings(corpus: str, stub: OpenAIStub | None = None, **more: Any) -> dict[str, Any]:
    chat = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0} if stub is not None else {}
    return {"corpus": corpus, "cache": "memory", **chat, **more}


def looked(state: dict[str, Any]) -> dict[str, Any]:
    """Return what the trace says of the look for a kept answer."""
    (counts,) = [step["counts"] for step in state["trace"] if step["node"] == "recall"]
    return dict(counts)


async def ask(where: dict[str, Any], question: str = QUESTION, **given: Any) -> dict[str, Any]:
    return await graph.ainvoke({"question": question, **given}, context=Context(**where))


async def test_the_second_time_nothing_is_searched_and_no_model_is_asked(river: str, stub: OpenAIStub) -> None:
    first = await ask(settings(river, stub))
    calls = len(stub.calls)
    second = await ask(settings(river, stub))
    assert len(stub.calls) == calls > 0
    assert [step["node"] for step in second["trace"]] == ["begin", "recall", "finish"]
    assert {name for name in first if second[name] != first[name]} <= OF_ONE_RUN
    assert second["usage"]["calls"] == 0
    hit = looked(second)
    assert hit["hit"] is True
    assert datetime.now(UTC) - datetime.fromisoformat(hit["of"]) < timedelta(minutes=1)
    before, after = (state["messages"][-1].response_metadata for state in (first, second))
    assert after == {**before, "cached": True}
    assert first["trace"][-1]["counts"] == {"kept": True}


async def test_off_is_the_default_and_leaves_no_step_behind(river: str) -> None:
    for _ in range(2):
        state = await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river))
        assert "recall" not in {step["node"] for step in state["trace"]}
        assert state["trace"][-1]["counts"] == {}


async def test_nothing_blocks_the_event_loop(river: str) -> None:
    await ask(settings(river))  # what is loaded on first use is not the point here
    keeping.MEMORY.clear()
    with blockbuster_ctx():
        states = [await ask(settings(river)) for _ in range(2)]
    assert [looked(state)["hit"] for state in states] == [False, True]


async def test_a_kept_answer_is_streamed_and_its_message_is_new(river: str) -> None:
    first = await ask(settings(river))
    pieces = []
    state: dict[str, Any] = {}
    async for mode, item in graph.astream(
        {"question": QUESTION}, context=Context(**settings(river)), stream_mode=["messages", "values"]
    ):
        if mode == "messages":
            pieces.append(item[0])
        else:
            state = item
    assert [(piece.id, piece.text) for piece in pieces] == [(state["messages"][-1].id, first["answer"])]
    assert state["messages"][-1].id != first["messages"][-1].id


@pytest.mark.parametrize(
    ("change", "given"),
    [
        ({"top_k": 7}, {}),
        ({"depth": 51}, {}),
        ({"create_prompt": prompts.CREATE + " Be brief."}, {}),
        ({"rewrite_prompt": "Write queries."}, {}),
        ({"model": "openai:another"}, {}),
        ({"access": ("family",)}, {}),
        ({}, {"filters": {"source": "*.md"}}),
        ({}, {"question": "What measures protect the town from floods at Halden?"}),
        ({}, {"messages": [{"type": "human", "content": "Who was Ida?"}, {"type": "ai", "content": "A builder."}]}),
    ],
    ids=lambda value: json.dumps(value, default=str)[:40],
)
async def test_whatever_could_change_the_answer_is_in_its_name(
    change: dict[str, Any], given: dict[str, Any], river: str, stub: OpenAIStub
) -> None:
    where = settings(river, stub, strategy="none", rerank="none", grade="scores")
    await ask(where)
    calls = len(stub.calls)
    state = await ask({**where, **change}, **{"question": QUESTION, **given})
    assert looked(state) == {"hit": False}
    assert len(stub.calls) > calls or state["abstained"]


async def test_a_changed_prompt_of_the_program_or_another_version_is_another_name(
    river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask(settings(river))
    with monkeypatch.context() as patched:
        patched.setattr(prompts, "RERANK", prompts.RERANK + " Be strict.")
        recall._words.cache_clear()
        assert looked(await ask(settings(river))) == {"hit": False}
    recall._words.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(recall, "__version__", "0.0.0")
        assert looked(await ask(settings(river))) == {"hit": False}
    assert looked(await ask(settings(river)))["hit"] is True


async def test_what_settings_only_point_at_is_in_the_name(
    river: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reranker = {"rerank": "cross_encoder", "rerank_model": str(tmp_path)}
    (tmp_path / "model.onnx").write_bytes(b"weights")
    before = await asyncio.to_thread(recall._around, Context(corpus=river, **reranker))
    assert await asyncio.to_thread(recall._around, Context(corpus=river, **reranker)) == before
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert await asyncio.to_thread(recall._around, Context(corpus=river, **reranker)) != before
    (tmp_path / "gone").unlink()
    assert await asyncio.to_thread(recall._around, Context(corpus=river, **reranker)) == before
    (tmp_path / "model.onnx").write_bytes(b"other weights")
    assert await asyncio.to_thread(recall._around, Context(corpus=river, **reranker)) != before
    await ask(settings(river))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert looked(await ask(settings(river))) == {"hit": False}


async def test_no_one_gets_what_was_answered_to_others(river: str) -> None:
    """The letter for `family` answers the first; whoever has other tags, more, or none is answered anew."""
    question = "What did Ida Marrow bury under the eastern abutment?"
    scopes: list[tuple[str, ...]] = [("family",), (), ("guests",), ("family", "guests")]
    answers = [await ask(settings(river, access=scope), question) for scope in scopes]
    assert all(looked(state) == {"hit": False} for state in answers)
    again = [await ask(settings(river, access=scope), question) for scope in scopes]
    assert all(looked(state)["hit"] for state in again)
    assert ["time capsule" in state["answer"] for state in again] == [True, False, False, True]
    assert [state["citations"] for state in again] == [state["citations"] for state in answers]
    # The order in which tags are given, and one given twice, say nothing.
    assert looked(await ask(settings(river, access=("guests", "family", "guests")), question))["hit"] is True


async def test_a_changed_document_a_new_one_and_new_tags_are_another_corpus(tmp_path: Path) -> None:
    notes, folder = tmp_path / "notes", tmp_path / "corpus"
    notes.mkdir()
    (notes / "weir.md").write_text("# Weir\n\nThe Halden weir was built by Ida Marrow in 1874.\n")
    where, question = settings(str(folder)), "Who built the Halden weir?"

    async def hit() -> bool:
        return bool(looked(await ask(where, question))["hit"])

    ingest([notes], folder)
    assert [await hit(), await hit()] == [False, True]
    ingest([notes], folder)  # nothing changed
    assert await hit()
    (notes / "weir.md").write_text("# Weir\n\nThe Halden weir was built by Odo Brandt in 1901.\n")
    ingest([notes], folder)
    changed = await ask(where, question)
    assert looked(changed) == {"hit": False}
    assert "Odo Brandt" in changed["answer"]
    (notes / "mill.md").write_text("# Mill\n\nThe mill stands below the weir.\n")
    ingest([notes], folder)
    assert [await hit(), await hit()] == [False, True]
    ingest([notes], folder, access=("family",))
    assert not await hit()
    # Another corpus in the same place.
    shutil.rmtree(folder)
    (notes / "mill.md").unlink()
    ingest([notes], folder)
    assert not await hit()


class Guest(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document("Three measures protect the town.", metadata={"source": "guest"})]


async def test_answers_that_may_differ_each_time_are_not_kept(river: str, stub: OpenAIStub) -> None:
    async def twice(where: dict[str, Any], compiled: Any = graph) -> dict[str, Any]:
        for _ in range(2):
            state = await compiled.ainvoke({"question": QUESTION}, context=Context(**where))
        return looked(state)

    warm = await twice(settings(river, stub, temperature=0.7))
    assert warm == {"hit": False, "why": "temperature is 0.7: each answer is another"}
    with_guest = build({"notes": Guest()}).compile()
    assert (await twice(settings(river, retrievers=("bm25", "notes")), with_guest))["hit"] is False
    assert (await twice(settings(river), with_guest))["hit"] is True


async def test_a_degraded_answer_is_not_kept(river: str) -> None:
    broken = model(create=Reply("", status=500))
    with OpenAIStub(broken) as stub:
        where = settings(river, stub)
        failed = await ask(where)
        assert failed["degraded"]
        assert failed["trace"][-1]["counts"] == {}
        stub.script = model()
        # The stub plays chat replies by kind; a fresh script mends the model.
        again = await ask(where)
    assert looked(again) == {"hit": False}


async def test_an_abstention_is_kept_where_nothing_failed(river: str) -> None:
    question = "What does the orchestra of Lisbon play tonight?"
    first = await ask(settings(river), question)
    second = await ask(settings(river), question)
    assert first["abstained"]
    assert looked(second)["hit"] is True
    assert second["abstained"]
    assert second["answer"] == first["answer"]


async def test_the_same_follow_up_hits_only_in_the_same_conversation(river: str) -> None:
    where = Context(**settings(river))
    compiled = build().compile(checkpointer=InMemorySaver())

    async def turn(thread: str, question: str) -> dict[str, Any]:
        config: Any = {"configurable": {"thread_id": thread}}
        return await compiled.ainvoke({"question": question}, config, context=where)

    for thread in ("a", "b"):
        await turn(thread, "Who built the Halden weir?")
    await turn("c", "How high is the relief channel?")
    assert looked(await turn("a", "When?")) == {"hit": False}
    same = await turn("b", "When?")
    assert looked(same)["hit"] is True
    assert len(same["messages"]) == 4
    assert looked(await turn("c", "When?")) == {"hit": False}


async def test_a_run_that_was_forked_edited_or_gone_on_with_keeps_nothing(river: str) -> None:
    config: Any = {"configurable": {"thread_id": "t"}}
    compiled = build().compile(checkpointer=InMemorySaver())
    where = settings(river)
    stopped = await compiled.ainvoke(
        {"question": QUESTION}, config, context=Context(**where), interrupt_before=["cite"]
    )
    assert not stopped["answer"]
    edited = {**stopped["draft"], "answer": "Three measures protect the town [1]."}
    await compiled.aupdate_state(config, {"draft": edited}, as_node="create")
    ended = await compiled.ainvoke(None, config)
    assert ended["answer"].startswith("Three measures")
    fresh = await ask(where)
    assert looked(fresh) == {"hit": False}
    assert fresh["answer"] != ended["answer"]


async def test_a_fork_with_other_settings_neither_hits_nor_keeps(river: str) -> None:
    config: Any = {"configurable": {"thread_id": "t"}}
    compiled = build().compile(checkpointer=InMemorySaver())
    where = settings(river)
    await compiled.ainvoke({"question": QUESTION}, config, context=Context(**where))
    snapshots = [snapshot async for snapshot in compiled.aget_state_history(config)]
    before_rerank = next(snapshot for snapshot in snapshots if snapshot.next == ("rerank",))
    forked = await compiled.ainvoke(None, before_rerank.config, context=Context(top_k=1))
    assert len(forked["candidates"]) == 1
    before_recall = next(snapshot for snapshot in snapshots if snapshot.next == ("recall",))
    again = await compiled.ainvoke(None, before_recall.config, context=Context(top_k=1))
    assert looked(again) == {"hit": False}
    assert len((await ask(where))["candidates"]) > 1


async def test_a_person_who_reviews_is_always_asked(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    await ask(settings(river))
    for thread in ("a", "b"):
        config: Any = {"configurable": {"thread_id": thread}}
        context = Context(**settings(river, review="sources"))
        paused = await compiled.ainvoke({"question": QUESTION}, config, context=context)
        assert paused["__interrupt__"]
        offered = paused["passages"]
        ended = await compiled.ainvoke(Command(resume=[offered[-1]["id"]]), config)
        assert looked(ended)["why"] == "a person has a say in each answer"
    assert looked(await ask(settings(river)))["hit"] is True


async def in_store(store: BaseStore, river: str, times: int = 2, **more: Any) -> list[dict[str, Any]]:
    compiled = build().compile(store=store)
    context = Context(**settings(river, cache="store", **more))
    return [await compiled.ainvoke({"question": QUESTION}, context=context) for _ in range(times)]


async def test_the_store_of_the_graph_keeps_answers_over_processes(river: str, tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    async with AsyncSqliteStore.from_conn_string(path) as store:
        await store.setup()
        (first,) = await in_store(store, river, 1)
    async with AsyncSqliteStore.from_conn_string(path) as store:
        await store.setup()
        (second,) = await in_store(store, river, 1)
        (item,) = await store.asearch(keeping.NAMESPACE)
    assert looked(second)["hit"] is True
    assert {name: second[name] for name in VISIBLE} == {name: first[name] for name in VISIBLE}
    assert json.loads(json.dumps(item.value)) == item.value
    assert len(item.key) == len(str(ENTRIES))


BAD: list[Any] = [
    {},
    {"key": 1},
    {"text": "somebody else's"},
    "turn=None",
    "turn={}",
    "answer=1",
    "citations=[{}]",
    "at='yesterday'",
    "at='2999-01-01T00:00:00+00:00'",
    "key='0'",
]


@pytest.mark.parametrize("bad", BAD, ids=str)
async def test_what_the_store_should_not_hold_is_no_hit_and_no_error(bad: Any, river: str) -> None:
    store = InMemoryStore()
    (first,) = await in_store(store, river, 1)
    (item,) = await store.asearch(keeping.NAMESPACE)
    value = bad
    if isinstance(bad, str):
        name, _, literal = bad.partition("=")
        value = json.loads(json.dumps(item.value))
        place = value["turn"] if name in ("answer", "citations") else value
        place[name] = eval(literal)  # the test's own words
    await store.aput(keeping.NAMESPACE, item.key, value)
    (second,) = await in_store(store, river, 1)
    assert looked(second)["hit"] is False
    assert second["answer"] == first["answer"]
    (third,) = await in_store(store, river, 1)
    assert looked(third)["hit"] is True


async def test_a_day_old_answer_is_made_anew(river: str) -> None:
    store = InMemoryStore()
    await in_store(store, river, 1)
    (item,) = await store.asearch(keeping.NAMESPACE)
    at = (datetime.now(UTC) - timedelta(days=1, seconds=1)).isoformat()
    await store.aput(keeping.NAMESPACE, item.key, {**item.value, "at": at})
    (state,) = await in_store(store, river, 1)
    assert looked(state) == {"hit": False}


class BrokenStore(InMemoryStore):
    async def abatch(self, ops: Any) -> Any:
        raise ConnectionError("the store is gone")


async def test_a_store_that_fails_costs_the_keeping_and_not_the_answer(river: str) -> None:
    _, state = await in_store(BrokenStore(), river)
    assert state["citations"]
    assert state["degraded"] == []
    assert looked(state) == {"hit": False, "why": "ConnectionError: the store is gone"}
    assert state["trace"][-1]["counts"] == {"kept": False, "why": "ConnectionError: the store is gone"}


async def test_without_a_store_the_memory_serves(river: str) -> None:
    await ask(settings(river, cache="store"))
    assert looked(await ask(settings(river, cache="store")))["hit"] is True


def test_synchronous_callers_hit_as_well(river: str) -> None:
    context = Context(**settings(river))
    graph.invoke({"question": QUESTION}, context=context)
    assert looked(graph.invoke({"question": QUESTION}, context=context))["hit"] is True


async def test_queries_embedded_before_show_in_the_trace(tmp_path: Path) -> None:
    (tmp_path / "weir.md").write_text("# Weir\n\nThe Halden weir was built by Ida Marrow in 1874.\n")
    ingest([tmp_path / "weir.md"], tmp_path / "corpus")

    async def counted(question: str, **more: Any) -> tuple[int, int]:
        context = Context(corpus=str(tmp_path / "corpus"), **more)
        state = await graph.ainvoke({"question": question}, context=context)
        by_arm = {step["counts"]["arm"]: step["counts"] for step in state["trace"] if step["node"] == "retrieve"}
        assert "embedded" not in by_arm["bm25"]
        return by_arm["dense"]["embedded"], by_arm["dense"]["known"]

    assert await counted("Who built the Halden weir?") == (1, 0)
    assert await counted("Who built the Halden weir?") == (0, 1)
    assert await counted("Who built the Halden weir?", cache_vectors=False) == (1, 0)
    assert await counted("When was the Halden weir built?") == (1, 0)
