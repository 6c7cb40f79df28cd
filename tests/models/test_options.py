"""What is passed on to a model's client: options by name, reasoning_effort, and no temperature where none is taken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from anabranch.errors import SettingsError
from anabranch.models.chat import Chat, load_chat
from anabranch.models.providers import ChatSettings, without_secrets
from tests.servers.ollama_stub import OllamaStub
from tests.servers.openai_stub import OpenAIStub


async def _chat(model: str, base_url: str, given: dict[str, Any] | None = None, **settings: Any) -> Chat:
    options = json.dumps(given or {})
    return await load_chat(ChatSettings(model, base_url, timeout=20.0, retries=0, model_kwargs=options, **settings))


async def _bodies(stub: Any, chat: Chat) -> list[dict[str, Any]]:
    await chat.ask("s", "u", max_tokens=10)
    [piece async for piece in chat.stream("s", "u", max_tokens=10)]
    return [dict(call.request.body) for call in stub.calls]


@pytest.mark.loopback
async def test_options_reach_the_server() -> None:
    with OpenAIStub("x") as stub:
        chat = await _chat("openai:m", stub.base_url, {"top_p": 0.5, "extra_body": {"top_k": 7}})
        for body in await _bodies(stub, chat):
            assert (body["top_p"], body["top_k"]) == (0.5, 7)


@pytest.mark.loopback
async def test_options_of_ollama_stand_beside_the_length_of_the_reply() -> None:
    with OllamaStub("x") as stub:
        chat = await _chat("ollama:m", stub.url, {"num_ctx": 8192, "temperature": 0.5})
        for body in await _bodies(stub, chat):
            assert body["options"] == {"num_ctx": 8192, "temperature": 0.5, "num_predict": 10}


@pytest.mark.parametrize("model", ["openai:m", "ollama:m", "anthropic:m", "mistralai:m"])
async def test_an_option_that_the_client_does_not_know_fails_at_once(model: str) -> None:
    with pytest.raises(SettingsError, match="'top_pp'"):
        await _chat(model, "http://127.0.0.1:9/v1", {"top_pp": 0.5})


@pytest.mark.parametrize(
    "options",
    [
        {"api_key": "x"},
        {"openai_api_key": "x"},
        {"default_headers": {"Authorization": "Bearer x"}},
        {"extra_body": [{"access_token": "x"}]},
        {"base_url": "http://10.0.0.1"},
        {"openai_proxy": "10.0.0.1:80"},
        {"extra_body": {"webhook": "https://example.com"}},
        {"client_kwargs": {"verify": False}},
        {"max_retries": 1},
        {"model": "other"},
    ],
)
def test_secrets_addresses_and_what_has_a_setting_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"looks like|setting of its own"):
        without_secrets(options)


def test_common_options_are_none_of_these() -> None:
    without_secrets(
        {
            "temperature": 1,
            "top_p": 0.9,
            "top_k": 3,
            "seed": 1,
            "keep_alive": "5m",
            "num_ctx": 1,
            "stop": ["\n"],
            "n": 1,
        }
    )


@pytest.mark.loopback
@pytest.mark.parametrize(("model", "sent"), [("gpt-5-mini", False), ("o3-mini", False), ("gpt-4o", True)])
async def test_temperature_is_not_sent_to_a_model_that_takes_none(model: str, sent: bool) -> None:
    with OpenAIStub("x") as stub:
        for body in await _bodies(stub, await _chat(f"openai:{model}", stub.base_url)):
            assert ("temperature" in body) is sent


@pytest.mark.loopback
async def test_reasoning_effort_is_passed_where_the_provider_takes_it() -> None:
    with OpenAIStub("x") as stub:
        for body in await _bodies(stub, await _chat("openai:gpt-5-mini", stub.base_url, reasoning_effort="low")):
            assert body["reasoning_effort"] == "low"
    with OpenAIStub("x") as stub:
        chat = await _chat("openrouter:openai/gpt-5-mini", stub.base_url, reasoning_effort="low")
        for body in await _bodies(stub, chat):
            assert body["reasoning"]["effort"] == "low"
        assert chat.remarks == ()


@pytest.mark.loopback
async def test_reasoning_effort_is_left_out_elsewhere_and_that_is_said() -> None:
    with OpenAIStub("x") as stub:
        chat = await _chat("openai:gpt-4o", stub.base_url, reasoning_effort="low")
        assert all("reasoning_effort" not in body for body in await _bodies(stub, chat))
        assert "reasoning_effort" in "".join(chat.remarks)
    with OllamaStub("x") as local:
        chat = await _chat("ollama:m", local.url, reasoning_effort="low")
        assert await chat.ask("s", "u", max_tokens=10) == "x"
        assert "reasoning_effort" in "".join(chat.remarks)


async def test_a_level_that_the_model_does_not_have_is_said_with_those_it_has() -> None:
    with pytest.raises(SettingsError, match="minimal") as raised:
        await _chat("openai:gpt-5.1", "http://127.0.0.1:9/v1", reasoning_effort="minimal")
    assert "low, medium, high" in str(raised.value.hint)
