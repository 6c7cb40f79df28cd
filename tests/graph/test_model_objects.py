"""A model object, given to the graph or to a run; and `auto`, which looks for a server on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langgraph.checkpoint.memory import InMemorySaver

from anabranch import aanswer, answer
from anabranch.agent.graph.step import UNWRITTEN
from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from anabranch.models import graphics_processor, local_servers
from anabranch.models.local_servers import LocalServer
from tests.graph.inside import build, graph
from tests.servers.openai_stub import OpenAIStub

QUESTION = "Who built the Halden weir?"
SAID = 'Ida Marrow built the weir [1].\n\nQUOTES:\n[1] "Ida Marrow"'


def _fake() -> FakeListChatModel:
    return FakeListChatModel(responses=[SAID])


def _context(river: str, **settings: Any) -> Context:
    return Context(corpus=river, strategy="none", synthesis="stuff", **settings)


async def test_a_model_of_the_graph_writes_and_one_of_the_run_takes_its_place(river: str) -> None:
    compiled = build(model=_fake()).compile()
    state = await compiled.ainvoke({"question": QUESTION}, context=_context(river))
    assert "Ida Marrow built" in state["answer"]
    assert state["usage"]["calls"] == 1
    other = FakeListChatModel(responses=["Somebody else built it [1]."])
    state = await compiled.ainvoke({"question": QUESTION}, context=_context(river, model=other))
    assert next(step for step in state["trace"] if step["node"] == "create")["counts"]["by"] == "model"
    assert "Ida Marrow built" not in state["answer"]


async def test_it_stands_in_the_place_of_the_environments(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_MODEL", "openai:nobody")
    monkeypatch.setenv("ANABRANCH_LOCK", '["model"]')
    state = await build(model=_fake()).compile().ainvoke({"question": QUESTION}, context=_context(river))
    assert "Ida Marrow built" in state["answer"]


async def test_a_thread_goes_on_with_the_model_of_its_graph_and_keeps_no_object(river: str) -> None:
    saver, config = InMemorySaver(), {"configurable": {"thread_id": "1"}}
    given = _context(river, model=_fake(), review="sources")
    await build().compile(checkpointer=saver).ainvoke({"question": QUESTION}, config, context=given)
    kept = (await build().compile(checkpointer=saver).aget_state(config)).values["turn"]["settings"]
    assert kept["model"] == "object:FakeListChatModel"
    json.dumps(kept)
    from langgraph.types import Command

    with pytest.raises(SettingsError, match="FakeListChatModel") as raised:
        await build().compile(checkpointer=saver).ainvoke(Command(resume=True), config)
    assert "build(model=...)" in str(raised.value.hint)
    state = await build(model=_fake()).compile(checkpointer=saver).ainvoke(Command(resume=True), config)
    assert "Ida Marrow built" in state["answer"]


async def test_the_public_functions_take_it(river: str) -> None:
    settings: dict[str, Any] = {"corpus": river, "strategy": "none", "synthesis": "stuff"}
    assert (await aanswer(QUESTION, model=_fake(), **settings))["usage"]["calls"] == 1


def test_the_synchronous_function_takes_it(river: str) -> None:
    assert answer(QUESTION, model=_fake(), corpus=river, strategy="none")["usage"]["calls"] >= 1


def test_what_is_no_model_is_said() -> None:
    for wrong in (3, object(), FakeListChatModel):
        with pytest.raises(SettingsError, match="chat model"):
            build(model=wrong)
        with pytest.raises(SettingsError, match="chat model"):
            answer(QUESTION, model=wrong)


def test_a_context_with_an_object_is_json_all_the_same() -> None:
    context = Context(model=_fake())  # type: ignore[arg-type]
    assert json.loads(context.model_dump_json())["model"] == "object:FakeListChatModel"


def test_a_secret_among_the_options_is_refused_and_not_repeated(river: str) -> None:
    with pytest.raises(SettingsError, match="environment variable") as raised:
        answer(QUESTION, corpus=river, model="openai:m", model_kwargs={"api_key": "sk-very-secret"})
    assert "sk-very-secret" not in str(raised.value)


Use = Callable[..., None]


@pytest.fixture
def look_for(monkeypatch: pytest.MonkeyPatch) -> Iterator[Use]:
    """Say which servers are looked for; before that, one that is not there."""

    def use(*servers: LocalServer) -> None:
        monkeypatch.setattr(local_servers, "SERVERS", servers)

    monkeypatch.setattr(local_servers, "SECONDS", 30)  # the machine may be busy
    monkeypatch.setattr(graphics_processor, "may_have_processor", lambda: True)
    use(LocalServer("Ollama", 9, "/api/tags"))
    yield use
    local_servers._found.clear()


class _Ollama(OpenAIStub):
    """Lists its models as Ollama does, the ones for vectors first."""

    def listing(self, path: str) -> dict[str, Any] | None:
        bert = {"name": "all-minilm:latest", "model": "all-minilm:latest", "details": {"family": "bert"}}
        return (
            {"models": [bert, {"model": "qwen3:4b", "details": {"family": "qwen3"}}]} if path == "/api/tags" else None
        )


def _port(stub: OpenAIStub) -> int:
    return int(stub.url.rpartition(":")[2])


@pytest.mark.loopback
async def test_auto_takes_the_first_model_that_chats_and_says_which(
    river: str, look_for: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-local-servers")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # what is asked on this machine goes past any proxy
    with _Ollama(SAID) as stub:
        look_for(LocalServer("Ollama", _port(stub), "/api/tags"), LocalServer("LM Studio", 9, "/v1/models"))
        state = await graph.ainvoke({"question": QUESTION}, context=_context(river, model="auto"))
        assert {call.request.model for call in stub.calls} == {"qwen3:4b"}
        assert all("sk-not" not in str(dict(call.request.headers)) for call in stub.calls)
        assert state["trace"][0]["counts"]["model"] == f"qwen3:4b of Ollama at 127.0.0.1:{_port(stub)}"
        assert state["degraded"] == []
        assert state["turn"]["settings"]["model"] == "auto"


@pytest.mark.loopback
async def test_auto_finds_a_server_that_lists_as_openai_does(look_for: Use) -> None:
    with OpenAIStub("x") as stub:
        look_for(LocalServer("Ollama", 9, "/api/tags"), LocalServer("llama.cpp", _port(stub), "/v1/models"))
        found = await local_servers.find_model()
        assert found is not None
        assert (found.name, found.base_url) == ("stub", stub.base_url)
        assert await local_servers.find_model() is found
    assert await local_servers.find_model() is found
    assert await local_servers.find_model(anew=True) is None


@pytest.mark.loopback
@pytest.mark.parametrize("listing", [{"models": 3}, {"data": [{"id": 5}]}, {"data": ["x"]}, {"else": []}])
async def test_what_listens_there_may_be_anything(look_for: Use, listing: dict[str, Any]) -> None:
    with OpenAIStub("x") as stub:
        stub.listing = lambda _path: listing  # type: ignore[method-assign]
        look_for(LocalServer("llama.cpp", _port(stub), "/v1/models"))
        assert await local_servers.find_model() is None


@pytest.mark.loopback
async def test_auto_without_a_server_answers_in_sentences_and_says_why(river: str, look_for: Use) -> None:
    state = await graph.ainvoke({"question": QUESTION}, context=_context(river, model="auto"))
    assert state["route"]["name"] == "compose"
    first, second = state["degraded"]
    assert first["step"] == "model"
    assert "Ollama at 127.0.0.1:9" in first["reason"]
    assert second["code"] == UNWRITTEN


async def test_auto_and_an_address_contradict_each_other(river: str) -> None:
    with pytest.raises(SettingsError, match="base_url"):
        await graph.ainvoke(
            {"question": QUESTION}, context=_context(river, model="auto", base_url="http://127.0.0.1:9/v1")
        )


def test_no_package_of_a_provider_is_imported_before_it_is_asked_for() -> None:
    import subprocess
    import sys

    packages = "anthropic cohere google.genai groq mistralai ollama openrouter langchain_anthropic langchain_ollama"
    code = (
        "import sys, anabranch; from anabranch import answer, build, ingest, Context; build(); Context(model='auto')\n"
        f"print([name for name in '{packages} langchain_openrouter langchain_openai openai'.split() "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == "[]"
