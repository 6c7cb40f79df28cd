"""Which models are asked for markers: hosted ones, until one of them answers with markers and no words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from anabranch.agent.prompts import CITE, CREATE, GUARD
from anabranch.models import reply_budget
from tests.graph.inside import graph
from tests.graph.replies import model, step_of
from tests.servers.anthropic_stub import AnthropicStub, documents_of
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import in_turn

pytestmark = pytest.mark.loopback

QUESTION = "Who built the Halden weir?"
PLAIN, CITED = CREATE, f"{CITE}\n{CREATE}"
ANSWER = "Ida Marrow built the Halden weir [1]."


@pytest.fixture(autouse=True)
def _nothing_learned() -> Iterator[None]:
    reply_budget._learned.clear()
    yield
    reply_budget._learned.clear()


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIStub]:
    """A stub that stands where the provider is: nobody gave a `base_url`."""
    with OpenAIStub(model(create=ANSWER)) as stub:
        monkeypatch.setenv("OPENAI_API_KEY", "unused")
        monkeypatch.setenv("OPENAI_API_BASE", stub.base_url)
        yield stub


async def _asked(river: str, stub: OpenAIStub, name: str, **settings: Any) -> tuple[str, dict[str, Any]]:
    """Ask a question; return what the writer was asked for."""
    before = len(stub.calls)
    context = Context(corpus=river, model=name, strategy="none", model_retries=0, **settings)
    state = await graph.ainvoke({"question": QUESTION}, context=context)
    (request,) = [call.request for call in stub.calls[before:] if step_of(call.request) == "create"]
    return request.user.rpartition("\n\n")[2], state


@pytest.mark.parametrize(("form", "ask"), [("auto", CITED), ("plain", PLAIN), ("cited", CITED), ("quoted", CITED)])
async def test_a_hosted_model_is_asked_for_markers_unless_told_otherwise(
    form: str, ask: str, river: str, provider: OpenAIStub
) -> None:
    assert (await _asked(river, provider, "openai:gpt-4o-mini", answer_form=form))[0] == ask


@pytest.mark.parametrize(("form", "ask"), [("auto", PLAIN), ("cited", CITED), ("quoted", CITED)])
async def test_a_model_on_a_server_of_ones_own_is_asked_plainly(form: str, ask: str, river: str) -> None:
    with OpenAIStub(model(create=ANSWER)) as stub:
        settings = {"base_url": stub.base_url, "answer_form": form}
        assert (await _asked(river, stub, "openai:gpt-4o-mini", **settings))[0] == ask


@pytest.mark.parametrize("markers", ["[1]", " [3], [1] ."])
async def test_a_reply_of_markers_alone_makes_a_model_plain_from_then_on(
    markers: str, river: str, provider: OpenAIStub
) -> None:
    provider.script = model(create=in_turn(markers, ANSWER))
    first, state = await _asked(river, provider, "openai:gpt-4o-mini")
    assert first == CITED
    assert {item["step"] for item in state["degraded"]} == {"create"}
    assert state["route"]["name"] == "compose"
    assert [(await _asked(river, provider, "openai:gpt-4o-mini"))[0] for _ in range(2)] == [PLAIN, PLAIN]


async def test_what_one_model_taught_is_not_held_against_another(river: str, provider: OpenAIStub) -> None:
    provider.script = model(create=in_turn("[1]", ANSWER))
    await _asked(river, provider, "openai:gpt-4o-mini")
    assert (await _asked(river, provider, "openai:gpt-4o"))[0] == CITED
    assert (await _asked(river, provider, "openai:gpt-4o-mini"))[0] == PLAIN


async def test_an_empty_reply_teaches_nothing(river: str, provider: OpenAIStub) -> None:
    provider.script = model(create=in_turn("", ANSWER))
    await _asked(river, provider, "openai:gpt-4o-mini")
    assert (await _asked(river, provider, "openai:gpt-4o-mini"))[0] == CITED


async def test_who_asks_for_markers_gets_them_asked_for_whatever_was_learned(river: str, provider: OpenAIStub) -> None:
    provider.script = model(create=in_turn("[1]", ANSWER))
    await _asked(river, provider, "openai:gpt-4o-mini")
    assert (await _asked(river, provider, "openai:gpt-4o-mini", answer_form="cited"))[0] == CITED


@pytest.mark.parametrize(("form", "native"), [("auto", True), ("cited", True), ("quoted", False), ("plain", False)])
async def test_a_provider_that_cites_by_itself_gets_documents_and_is_checked_like_any_other(
    form: str, native: bool, river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Ida Marrow built the Halden weir{0}. She built it on the moon{0}."
    with AnthropicStub(said) as stub:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "unused")
        monkeypatch.setenv("ANTHROPIC_API_URL", stub.url)
        settings = {"model": "anthropic:claude-opus-4-8", "model_retries": 0, "strategy": "none"}
        context = Context(corpus=river, answer_form=form, **settings)
        state = await graph.ainvoke({"question": QUESTION}, context=context)
        request = stub.calls[0].request
    documents = documents_of(request)
    assert bool(documents) is native
    assert (CITE in request.user) is (form == "quoted")
    assert request.body["system"].endswith(GUARD)
    if native:
        assert "<passages-" not in request.user
        assert len(documents) == len(state["windows"][0])
        (citation,) = state["citations"]
        assert citation["claim"] == "Ida Marrow built the Halden weir."
        assert state["answer"] == "Ida Marrow built the Halden weir [1]. She built it on the moon. [?]"
