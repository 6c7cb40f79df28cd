"""Spans and metrics of runs, steps and model calls, as OpenTelemetry's SDK gets them; and what is in none of them."""

from __future__ import annotations

import asyncio
import logging

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from opentelemetry import trace

from anabranch.agent.graph.answer import build
from anabranch.agent.graph.ingest import graph as ingest_graph
from anabranch.agent.graph.telemetry import RunSpans
from anabranch.agent.nodes.settings import Context
from anabranch.errors import QuestionError
from tests.graph.replies import model
from tests.recorded_telemetry import attributes, recorded
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import BROKEN, SILENT, Reply

QUESTION = "Who built the Halden weir?"
CANARY = "zxqcanary"

graph = build().compile(name="answer").with_config(max_concurrency=8, callbacks=[RunSpans("answer")])


async def test_a_run_is_one_tree_of_its_steps(river: str) -> None:
    telemetry = recorded()
    state = await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river))
    (run,) = telemetry.named("invoke_workflow answer")
    steps = [span for span in telemetry.spans if span is not run]
    assert {span.context.trace_id for span in steps} == {run.context.trace_id}
    assert {span.parent.span_id for span in steps} == {run.context.span_id}
    assert sorted(span.name for span in steps) == sorted(step["node"] for step in state["trace"])
    assert {attributes(span).get("anabranch.retriever") for span in telemetry.named("retrieve")} == {"bm25", "dense"}
    said = attributes(run)
    assert (said["gen_ai.operation.name"], said["anabranch.run.status"]) == ("invoke_workflow", "success")
    assert said["anabranch.outcome"] == "answered"
    assert said["anabranch.claims.quoted"] == state["verification"]["quoted"] > 0


async def test_each_step_and_each_answer_is_counted(river: str) -> None:
    telemetry = recorded()
    await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river))
    nowhere = {"question": "What is the tax on balloons?", "filters": {"source": "nowhere.md"}}
    await graph.ainvoke(nowhere, context=Context(corpus=river))
    assert telemetry.grown("anabranch.step.duration", anabranch__step="retrieve", anabranch__outcome="ok") == 4
    assert telemetry.grown("anabranch.answers", anabranch__outcome="answered", anabranch__route="compose") == 1
    assert telemetry.grown("anabranch.answers", anabranch__outcome="not_found") == 1
    assert telemetry.grown("anabranch.claims", anabranch__grade="quoted") >= 1
    assert telemetry.grown("anabranch.run.duration", anabranch__run__status="success") == 2
    assert telemetry.grown("anabranch.step.model_calls") == 0


def test_the_synchronous_way_in_has_the_same_spans(river: str) -> None:
    telemetry = recorded()
    graph.invoke({"question": QUESTION}, context=Context(corpus=river))
    (run,) = telemetry.named("invoke_workflow answer")
    assert {span.parent.span_id for span in telemetry.spans if span is not run} == {run.context.span_id}


async def test_runs_side_by_side_are_told_apart(river: str) -> None:
    telemetry = recorded()
    context = Context(corpus=river)
    streams = [graph.astream({"question": QUESTION}, context=context, stream_mode="updates") for _ in range(2)]
    # In one task, one step of each in turn: nothing that is current says which run a step belongs to.
    going = list(streams)
    while going:
        going = [stream for stream in going if await anext(stream, None) is not None]
    runs = telemetry.named("invoke_workflow answer")
    assert len({run.context.trace_id for run in runs}) == 2
    for run in runs:
        below = [span.name for span in telemetry.spans if span.parent and span.parent.span_id == run.context.span_id]
        assert [below.count(name) for name in ("begin", "retrieve", "finish")] == [1, 2, 1]
    assert not trace.get_current_span().get_span_context().is_valid


async def test_a_graph_of_ones_own_hangs_below_the_current_span(river: str) -> None:
    telemetry = recorded()
    with trace.get_tracer("program").start_as_current_span("request") as request:
        await build().compile().ainvoke({"question": QUESTION}, context=Context(corpus=river))
    finish = telemetry.named("finish")[0]
    assert finish.parent is not None
    assert finish.parent.span_id == request.get_span_context().span_id


async def test_a_pause_and_its_end_are_two_runs(river: str) -> None:
    telemetry = recorded()
    compiled = build().compile(checkpointer=InMemorySaver()).with_config(callbacks=[RunSpans("answer")])
    config = {"configurable": {"thread_id": "t-7"}}
    await compiled.ainvoke({"question": QUESTION}, config, context=Context(corpus=river, review="queries"))
    await compiled.ainvoke(Command(resume=True), config)
    paused, ended = telemetry.named("invoke_workflow answer")
    assert attributes(paused)["anabranch.run.status"] == "paused"
    assert attributes(ended)["anabranch.run.status"] == "success"
    assert attributes(ended)["gen_ai.conversation.id"] == "t-7"


async def test_a_failure_is_told_by_its_kind(river: str) -> None:
    telemetry = recorded()
    with pytest.raises(QuestionError):
        await graph.ainvoke({"question": "?" + " " * 3}, context=Context(corpus=river))
    (run,), (begin,) = telemetry.named("invoke_workflow answer"), telemetry.named("begin")
    for span in (run, begin):
        assert attributes(span)["error.type"] == "QuestionError"
        assert not span.status.is_ok
        assert not span.events
    assert telemetry.grown("anabranch.step.duration", anabranch__step="begin", anabranch__outcome="failed") == 1
    assert telemetry.grown("anabranch.run.duration", anabranch__run__status="failed") == 1


@pytest.mark.loopback
async def test_a_run_that_is_stopped_is_cancelled(river: str) -> None:
    telemetry = recorded()
    with OpenAIStub(SILENT) as stub:
        settings = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0, "strategy": "none"}
        going = asyncio.ensure_future(graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, **settings)))
        while not stub.calls:
            await asyncio.sleep(0.05)
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
    (run,) = telemetry.named("invoke_workflow answer")
    assert attributes(run)["anabranch.run.status"] == "cancelled"
    assert telemetry.grown("anabranch.step.duration", anabranch__outcome="cancelled") == 1


@pytest.mark.loopback
async def test_model_calls_are_told_in_the_words_of_the_conventions(river: str) -> None:
    telemetry = recorded()
    with OpenAIStub(model()) as stub:
        settings = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
        state = await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, **settings))
        port = int(stub.base_url.split(":")[2].partition("/")[0])
    calls = telemetry.named("chat openai:stub")
    assert len(calls) == state["usage"]["calls"] == telemetry.grown("anabranch.step.model_calls") > 1
    steps = {span.context.span_id: span.name for span in telemetry.spans}
    assert {steps[span.parent.span_id] for span in calls} == {"rewrite", "create"}
    (written,) = [span for span in calls if attributes(span)["gen_ai.request.stream"]]
    said = attributes(written)
    assert said["gen_ai.provider.name"] == "openai"
    assert (said["server.address"], said["server.port"]) == ("127.0.0.1", port)
    assert said["gen_ai.response.time_to_first_chunk"] > 0
    usage = [
        (span.attributes["gen_ai.usage.input_tokens"], span.attributes["gen_ai.usage.output_tokens"]) for span in calls
    ]
    assert tuple(map(sum, zip(*usage, strict=True))) == (
        state["usage"]["prompt_tokens"],
        state["usage"]["output_tokens"],
    )
    assert telemetry.grown("gen_ai.client.operation.duration") == len(calls)
    assert telemetry.grown("gen_ai.client.operation.time_to_first_chunk") == 1
    assert telemetry.grown("gen_ai.client.token.usage", gen_ai__token__type="output") == len(calls)


@pytest.mark.loopback
async def test_what_a_step_survives_is_counted(river: str) -> None:
    telemetry = recorded()
    with OpenAIStub(model(rewrite=BROKEN)) as stub:
        settings = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
        state = await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, **settings))
    (record,) = state["degraded"]
    assert telemetry.grown("anabranch.degraded", anabranch__step="rewrite", error__type=record["code"]) == 1
    assert telemetry.grown("anabranch.step.duration", anabranch__step="rewrite", anabranch__outcome="degraded") == 1


@pytest.mark.loopback
async def test_no_text_is_in_any_of_it(river: str, caplog: pytest.LogCaptureFixture) -> None:
    telemetry = recorded()
    caplog.set_level(logging.DEBUG, logger="anabranch")
    with OpenAIStub(model(rewrite=Reply(f"No {CANARY}.", status=500))) as stub:
        settings = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0, "file_links": False}
        question = f"Who built the Halden weir, {CANARY}?"
        state = await graph.ainvoke({"question": question}, context=Context(corpus=river, **settings))
    with pytest.raises(QuestionError):
        await graph.ainvoke({"question": f"{CANARY} " * 5000}, context=Context(corpus=river))
    with pytest.raises(Exception, match=CANARY):
        await ingest_graph.ainvoke({"paths": [f"/{CANARY}"]}, context=Context(corpus=river))
    assert CANARY in str(state)
    told = telemetry.everything() + "".join(str(vars(record)) for record in caplog.records)
    assert "invoke_workflow answer" in told
    assert CANARY not in told
    for citation in state["citations"]:
        assert citation["quote"] not in told
        assert citation["source"] not in told
    assert any(record.name == "anabranch.steps" for record in caplog.records)
