"""The effort dial: what each effort stands for, what goes before it, what it costs, and where `auto` begins quickly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from anabranch.agent.graph import retrieval
from anabranch.agent.graph.bindings import bind
from anabranch.agent.graph.running_turn import NO_PROCESSOR
from anabranch.agent.graph.settings_precedence import resolve_settings
from anabranch.agent.nodes.efforts import EFFORTS, WINDOWED
from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from anabranch.models import graphics_processor, local_servers
from anabranch.models.local_servers import LocalServer
from anabranch.safety.operator import environment
from tests.graph.inside import build, graph
from tests.graph.replies import model, passages_in, rounds_of, step_of
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import in_turn

QUESTION = "Who built the Halden weir?"
MODEL = "openai:stub"


def _resolve(**given: Any) -> Context:
    return resolve_settings(Context(**given))


@pytest.mark.parametrize("effort", EFFORTS)
def test_an_effort_stands_for_values_of_other_settings(effort: str) -> None:
    usual = Context().model_dump(exclude={"effort", "model"})
    found = _resolve(effort=effort, model=MODEL)
    assert found.effort == effort
    assert found.model_dump(exclude={"effort", "model"}) == {**usual, **EFFORTS[effort]}


def test_every_value_of_the_table_is_valid_and_changes_a_default() -> None:
    for standing in EFFORTS.values():
        Context(**standing)
        for name, value in standing.items():
            assert value != Context.model_fields[name].default


def test_without_an_effort_all_is_as_usual() -> None:
    assert _resolve(model=MODEL).model_dump() == _resolve().model_dump() | {"model": MODEL}


@pytest.mark.parametrize("effort", ["quick", "deep"])
def test_without_a_model_there_is_no_effort_to_choose(effort: str) -> None:
    assert _resolve(effort=effort).model_dump() == _resolve().model_dump() | {"effort": effort}


def test_whatever_is_set_goes_before_the_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_TOP_K", "5")
    bindings = bind({"strategy": "hyde"})
    environment.cache_clear()
    remembered = {"merge_threshold": 0.5, "effort": "quick"}
    found = resolve_settings(Context(model=MODEL, window_tokens=700), remembered, bindings=bindings)
    assert (found.top_k, found.strategy, found.merge_threshold, found.window_tokens) == (5, "hyde", 0.5, 700)
    assert found.max_model_calls == 1


@pytest.mark.parametrize("given", [{"coverage": "document"}, {"coverage": "corpus"}, {"synthesis": "rows"}])
def test_who_has_whole_documents_read_is_not_limited_to_one_call(given: dict[str, Any]) -> None:
    usual, found = _resolve(model=MODEL, **given), _resolve(model=MODEL, effort="quick", **given)
    assert {name: getattr(found, name) for name in WINDOWED} == {name: getattr(usual, name) for name in WINDOWED}
    assert (found.strategy, found.hops) == ("none", 0)
    assert _resolve(model=MODEL, effort="quick", coverage="passages").max_model_calls == 1
    assert _resolve(model=MODEL, effort="quick", max_model_calls=3, **given).max_model_calls == 3


def test_an_effort_comes_from_the_environment_and_a_call_goes_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_EFFORT", "quick")
    environment.cache_clear()
    assert _resolve(model=MODEL).top_k == EFFORTS["quick"]["top_k"]
    assert _resolve(model=MODEL, effort="normal").top_k == Context().top_k


def test_an_effort_changes_no_locked_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_LOCK", '["verify", "hops"]')
    monkeypatch.setenv("ANABRANCH_HOPS", "1")
    environment.cache_clear()
    found = _resolve(model=MODEL, effort="deep")
    assert (found.verify, found.hops, found.grade) == ("words", 1, "llm")


def test_a_locked_effort_is_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_LOCK", '["effort"]')
    environment.cache_clear()
    with pytest.raises(SettingsError, match="'effort' is fixed"):
        _resolve(model=MODEL, effort="deep")


def test_what_an_effort_stands_for_is_not_kept_as_given() -> None:
    assert _resolve(model=MODEL, effort="quick").explicit == {"model": MODEL, "effort": "quick"}


def _by_step(stub: OpenAIStub) -> Counter[str]:
    return Counter(step_of(call.request) for call in stub.calls)


def _settings(stub: OpenAIStub, river: str, **settings: Any) -> Context:
    return Context(corpus=river, model=MODEL, base_url=stub.base_url, model_retries=0, **settings)


@pytest.mark.loopback
async def test_quick_is_one_call_with_the_best_eight_leaves(river: str) -> None:
    with OpenAIStub(model()) as stub:
        state = await graph.ainvoke({"question": QUESTION}, context=_settings(stub, river, effort="quick"))
        assert _by_step(stub) == {"create": 1}
        assert 2 < len(passages_in(stub.calls[0].request)) <= 8
    assert {leaf for passage in state["passages"] for leaf in passage["leaves"]} == {
        passage["id"] for passage in state["passages"]
    }
    assert state["usage"]["calls"] == 1
    assert state["degraded"] == []
    assert state["trace"][0]["counts"]["effort"] == "quick"


@pytest.mark.loopback
async def test_quick_does_not_ask_again_after_a_refusal(river: str) -> None:
    with OpenAIStub(model(create="The passages do not say who built it.")) as stub:
        state = await graph.ainvoke({"question": QUESTION}, context=_settings(stub, river, effort="quick"))
        assert _by_step(stub) == {"create": 1}
    assert state["abstained"]
    assert state["degraded"] == []


@pytest.mark.loopback
async def test_quick_answers_a_follow_up_question_in_one_call(river: str) -> None:
    compiled, config = build().compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    with OpenAIStub(model()) as stub:
        for question in (QUESTION, "And when was it rebuilt?"):
            state = await compiled.ainvoke(
                {"question": question}, config, context=_settings(stub, river, effort="quick")
            )
        assert _by_step(stub) == {"create": 2}
    assert state["usage"]["calls"] == 1
    assert state["degraded"] == []
    assert "Halden" in state["turn"]["standalone_question"]


@pytest.mark.loopback
async def test_deep_has_the_evidence_and_the_claims_judged_and_searches_three_times(river: str) -> None:
    lacking = '{"sufficient": false, "missing": "the year"}'
    rewrite = in_turn("builder of the weir", "water wheel of the mill", "fish ladder of the town")
    with OpenAIStub(model(grade=lacking, rewrite=rewrite)) as stub:
        state = await graph.ainvoke({"question": QUESTION}, context=_settings(stub, river, effort="deep", top_k=3))
        found = _by_step(stub)
    assert rounds_of(state) == found["rewrite"] == 3
    assert found["grade"] >= 2
    assert found["judge"] == 1
    assert state["citations"][0]["judged"]


Use = Callable[[bool], OpenAIStub]


@pytest.fixture
def local_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Use]:
    """Serve a model where `auto` looks, on a machine with or without a graphics processor."""
    with OpenAIStub(model()) as stub:
        port = int(stub.url.rpartition(":")[2])
        monkeypatch.setattr(local_servers, "SERVERS", (LocalServer("llama.cpp", port, "/v1/models"),))
        monkeypatch.setattr(local_servers, "SECONDS", 30)  # the machine may be busy

        def use(has_processor: bool) -> OpenAIStub:
            monkeypatch.setattr(graphics_processor, "may_have_processor", lambda: has_processor)
            return stub

        yield use
    local_servers._found.clear()


@pytest.mark.loopback
async def test_auto_begins_quickly_without_a_graphics_processor_and_says_so(river: str, local_model: Use) -> None:
    stub = local_model(False)
    state = await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, model="auto"))
    assert _by_step(stub) == {"create": 1}
    assert len(state["candidates"]) <= 8
    assert [(each["step"], each["reason"]) for each in state["degraded"]] == [("model", NO_PROCESSOR)]
    assert state["turn"]["settings"]["effort"] == state["trace"][0]["counts"]["effort"] == "quick"


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("has_processor", "given"), [(True, {}), (False, {"effort": "normal"}), (False, {"coverage": "corpus"})]
)
async def test_auto_begins_as_usual_with_one_or_where_somebody_chose(
    has_processor: bool, given: dict[str, Any], river: str, local_model: Use
) -> None:
    stub = local_model(has_processor)
    state = await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, model="auto", **given))
    assert _by_step(stub) == {"rewrite": 1, "create": 1}
    assert state["degraded"] == []
    assert state["turn"]["settings"].get("effort") == given.get("effort")


@pytest.mark.loopback
async def test_auto_leaves_a_locked_effort_as_it_is(
    river: str, local_model: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = local_model(False)
    monkeypatch.setenv("ANABRANCH_LOCK", '["effort"]')
    environment.cache_clear()
    state = await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, model="auto"))
    assert _by_step(stub) == {"rewrite": 1, "create": 1}
    assert state["degraded"] == []


@pytest.mark.loopback
async def test_a_named_model_begins_as_usual(river: str, local_model: Use) -> None:
    stub = local_model(False)
    await graph.ainvoke({"question": QUESTION}, context=_settings(stub, river))
    assert _by_step(stub) == {"rewrite": 1, "create": 1}


@pytest.mark.loopback
async def test_a_resumed_run_goes_on_with_the_effort_that_it_began_with(river: str, local_model: Use) -> None:
    stub = local_model(False)
    compiled, config = build().compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    context = Context(corpus=river, model="auto", review="sources")
    await compiled.ainvoke({"question": QUESTION}, config, context=context)
    local_model(True)
    state = await compiled.ainvoke(Command(resume=True), config)
    assert _by_step(stub) == {"create": 1}
    assert state["usage"]["calls"] == 1
    again = await compiled.ainvoke(
        {"question": "Who has the ferry?"}, config, context=Context(corpus=river, model="auto")
    )
    assert "effort" not in again["turn"]["settings"]


@pytest.mark.loopback
async def test_a_search_finds_as_many_passages_as_before(river: str, local_model: Use) -> None:
    local_model(False)
    context = Context(corpus=river, model="auto", top_k=12)
    state = await retrieval.graph.ainvoke({"question": QUESTION}, context=context)
    assert len(state["candidates"]) > 8
    assert state["degraded"] == []


@pytest.mark.loopback
async def test_a_greeting_takes_no_effort(river: str, local_model: Use) -> None:
    local_model(False)
    state = await graph.ainvoke({"question": "Hello!"}, context=Context(corpus=river, model="auto"))
    assert state["degraded"] == []
