"""Every provider that can be given an address, through its own LangChain package, against a server of its protocol."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, ClassVar

import pytest

from anabranch.errors import ClientFaultError, MissingKeyError, ModelError, RequestRefusedError, SettingsError
from anabranch.models import reply_budget
from anabranch.models.chat import Chat, ChatSettings, load_chat
from anabranch.models.providers import KEY_NAMES
from anabranch.models.reply_budget import RESERVES
from anabranch.models.usage import metered
from anabranch.safety.prompt_envelope import new_nonce, wrap
from tests.servers.anthropic_stub import AnthropicStub, documents_of
from tests.servers.calls import Request
from tests.servers.cohere_stub import CohereStub
from tests.servers.google_stub import GoogleStub
from tests.servers.loopback import ScriptedStub
from tests.servers.ollama_stub import OllamaStub
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply

pytestmark = pytest.mark.loopback


class _Groq(OpenAIStub):
    paths: ClassVar = {"/openai/v1/chat/completions": "chat"}


STUBS: dict[str, tuple[type[ScriptedStub], str]] = {
    "openai": (OpenAIStub, "/v1"),
    "ollama": (OllamaStub, ""),
    "anthropic": (AnthropicStub, ""),
    "groq": (_Groq, ""),
    "deepseek": (OpenAIStub, "/v1"),
    "mistralai": (OpenAIStub, "/v1"),
    "openrouter": (OpenAIStub, "/v1"),
    "cohere": (CohereStub, ""),
    "google_genai": (GoogleStub, ""),
}
"""The server that a provider's package talks to, and what stands behind its address."""

PACKAGES = {"cohere": "langchain_cohere", "google_genai": "langchain_google_genai"}
"""Packages that do not go with the versions in constraints.txt: tried where somebody has them all the same."""


def _needs(provider: str) -> Any:
    lacking = provider in PACKAGES and find_spec(PACKAGES[provider]) is None
    marks = [pytest.mark.skipif(lacking, reason=f"no {PACKAGES.get(provider)} here")]
    if provider == "google_genai":  # its package derives a class of aiohttp's, when it is first asked
        marks.append(pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning"))
        marks.append(pytest.mark.filterwarnings("ignore:.*ClientResponse.json:pytest.PytestUnraisableExceptionWarning"))
        marks.append(pytest.mark.filterwarnings("ignore:coroutine 'ClientResponse.json':RuntimeWarning"))
    return pytest.param(provider, marks=marks)


every = pytest.mark.parametrize("provider", [_needs(provider) for provider in STUBS])


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    reply_budget._learned.clear()
    yield
    reply_budget._learned.clear()


def _stub(provider: str, script: Any) -> ScriptedStub:
    return STUBS[provider][0](script)


async def _chat(provider: str, stub: ScriptedStub) -> Chat:
    settings = ChatSettings(
        f"{provider}:stub", stub.url + STUBS[provider][1], timeout=20.0, retries=0, model_kwargs='{"temperature": 0.5}'
    )
    return await load_chat(settings)


def _limits(request: Request) -> list[int]:
    """Return every length limit that a request names."""
    names = ("max_tokens", "max_completion_tokens", "num_predict", "maxOutputTokens")
    return [_sent(request)[name] for name in names if name in _sent(request)]


def _sent(request: Request) -> dict[str, Any]:
    """Return the body of a request, with the options that Ollama and Google put one level down."""
    return {**request.body, **(request.body.get("options") or {}), **(request.body.get("generationConfig") or {})}


def test_every_provider_that_takes_an_address_is_tried_here() -> None:
    assert set(STUBS) == set(KEY_NAMES)


@every
async def test_a_reply_comes_whole_and_in_pieces_within_its_length(provider: str) -> None:
    with _stub(provider, "one two three") as stub, metered() as meter:
        model = await _chat(provider, stub)
        assert await model.ask("system", "user", max_tokens=50) == "one two three"
        pieces = [piece async for piece in model.stream("system", "user", max_tokens=60)]
        assert "".join(pieces) == "one two three"
        assert [_limits(call.request) for call in stub.calls] == [[50], [60]]
        temperatures = [_sent(call.request)["temperature"] for call in stub.calls]
        assert temperatures == [0.5, 0.5]
    assert meter.calls == 2
    assert meter.failures == []


@every
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, MissingKeyError),
        (403, MissingKeyError),
        (404, SettingsError),
        (400, RequestRefusedError),
        (413, RequestRefusedError),
        (422, RequestRefusedError),
        (429, ModelError),
        (500, ModelError),
    ],
)
@pytest.mark.parametrize("live", [False, True])
async def test_failures_are_sorted(provider: str, status: int, error: type[Exception], live: bool) -> None:
    with _stub(provider, Reply("so says the server", status=status)) as stub:
        model = await _chat(provider, stub)
        with pytest.raises(error) as raised:
            if live:
                [piece async for piece in model.stream("s", "u", max_tokens=10)]
            else:
                await model.ask("s", "u", max_tokens=10)
    assert raised.type is error
    assert status in (401, 403) or "so says the server" in str(raised.value)


@every
async def test_the_operators_keys_do_not_follow_an_address(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("OPENAI", "ANTHROPIC", "GROQ", "DEEPSEEK", "MISTRAL", "OPENROUTER", "CO", "COHERE", "GOOGLE", "GEMINI")
    for name in ("ANTHROPIC_AUTH_TOKEN", "OLLAMA_API_KEY", *(f"{name}_API_KEY" for name in names)):
        monkeypatch.setenv(name, "sk-operator-secret")
    with _stub(provider, "x") as stub:
        await (await _chat(provider, stub)).ask("s", "u", max_tokens=10)
        assert "sk-operator-secret" not in str(dict(stub.calls[0].request.headers))


class _Azure(OpenAIStub):
    paths: ClassVar = {"/openai/deployments/stub/chat/completions?api-version=2024-10-21": "chat"}


@pytest.mark.parametrize(
    ("status", "error"), [(200, None), (401, MissingKeyError), (429, ModelError), (503, ModelError)]
)
async def test_azure_by_its_own_environment(
    status: int, error: type[Exception] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _Azure(Reply("one two", status=status)) as stub:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", stub.url)
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-of-ours")
        options = '{"api_version": "2024-10-21"}'
        model = await load_chat(ChatSettings("azure_openai:stub", timeout=20.0, retries=0, model_kwargs=options))
        if error is None:
            assert await model.ask("s", "u", max_tokens=50) == "one two"
            assert "".join([piece async for piece in model.stream("s", "u", max_tokens=60)]) == "one two"
            assert stub.calls[0].request.headers["api-key"] == "azure-key-of-ours"
            assert [_limits(call.request) for call in stub.calls] == [[50], [60]]
            return
        for asked in (model.ask("s", "u", max_tokens=9), anext(aiter(model.stream("s", "u", max_tokens=9)))):
            with pytest.raises(error):
                await asked


async def test_azure_takes_no_address_of_a_caller() -> None:
    with pytest.raises(SettingsError, match="base_url") as raised:
        await load_chat(ChatSettings("azure_openai:stub", "http://127.0.0.1:9"))
    assert "AZURE_OPENAI_ENDPOINT" in str(raised.value.hint)


@pytest.mark.parametrize("provider", ["ollama", "anthropic"])
@pytest.mark.parametrize("live", [False, True])
async def test_thoughts_that_take_all_the_room_are_told_by_the_providers_own_reason(provider: str, live: bool) -> None:
    thoughts = f"<think>{'hm ' * 200}</think>October."
    with _stub(provider, thoughts) as stub:
        model = await _chat(provider, stub)
        if live:
            said = "".join([piece async for piece in model.stream("s", "u", max_tokens=20)])
        else:
            said = await model.ask("s", "u", max_tokens=20)
        assert [_limits(call.request) for call in stub.calls] == [[20], [20 + RESERVES[1]]]
    assert said.endswith("October.")


SHOWN = [(3, "report.pdf, p. 2", "The weir was built in 1850.\n\nIt holds."), (7, "", "Herons nest at the mill.")]
ASKED = f"{wrap(SHOWN, new_nonce())}\n\nQuestion: Who built it?\n\nAnswer:"


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize(
    ("said", "marked"),
    [
        (
            "It was built in 1850{0}. Herons nest there{1}, too.",
            "It was built in 1850 [3]. Herons nest there [7], too.",
        ),
        ("It was built in 1850.\n{0}Herons nest there. {1}", "It was built in 1850. [3]\nHerons nest there. [7] "),
        ("Nobody knows.", "Nobody knows."),
    ],
)
async def test_what_the_provider_cites_by_itself_is_marked(said: str, marked: str, live: bool) -> None:
    with AnthropicStub(said) as stub, metered() as meter:
        model = await _chat("anthropic", stub)
        assert model.takes_documents
        assert await _said(model, live=live) == marked
        (call,) = stub.calls
        assert [(each.get("title"), each["source"]["data"]) for each in documents_of(call.request)] == [
            ("report.pdf, p. 2", SHOWN[0][2]),
            (None, SHOWN[1][2]),
        ]
        assert call.request.user == "Question: Who built it?\n\nAnswer:"
    assert (meter.calls, meter.failures) == (1, [])


async def _said(model: Chat, *, live: bool) -> str:
    if live:
        return "".join([piece async for piece in model.stream("s", ASKED, max_tokens=60, documents=True)])
    return await model.ask("s", ASKED, max_tokens=60, documents=True)


@pytest.mark.parametrize("live", [False, True])
async def test_a_model_that_refuses_documents_gets_the_passages_as_text(live: bool) -> None:
    def script(request: Request) -> Reply:
        return Reply("no citations here", status=400) if documents_of(request) else Reply("In 1850.")

    with AnthropicStub(script) as stub, metered() as meter:
        model = await _chat("anthropic", stub)
        assert [await _said(model, live=live) for _ in range(2)] == ["In 1850.", "In 1850."]
        assert not model.takes_documents
        assert [bool(documents_of(call.request)) for call in stub.calls] == [True, False, False]
        assert stub.calls[1].request.user == ASKED
    # The refused request was one, too.
    assert (meter.calls, meter.failures) == (3, [])


@pytest.mark.parametrize("live", [False, True])
async def test_a_request_that_is_refused_either_way_says_nothing_of_documents(live: bool) -> None:
    with AnthropicStub(Reply("a filter took offence", status=400)) as stub:
        model = await _chat("anthropic", stub)
        with pytest.raises(RequestRefusedError, match="offence"):
            await _said(model, live=live)
        assert len(stub.calls) == 2
        assert model.takes_documents


async def test_other_providers_get_the_passages_as_text() -> None:
    with OpenAIStub("In 1850.") as stub:
        model = await _chat("openai", stub)
        assert not model.takes_documents
        assert await _said(model, live=False) == "In 1850."
        assert stub.calls[0].request.user == ASKED


async def test_a_fault_in_the_providers_package_is_not_taken_for_an_outage() -> None:
    from langchain_core.language_models import GenericFakeChatModel

    class Faulty(GenericFakeChatModel):
        async def _agenerate(self, *_: Any, **options: Any) -> Any:
            raise TypeError("chat() got an unexpected keyword argument 'max_tokens'")

    faulty = Chat(Faulty(messages=iter([])), ChatSettings("fake:x"))
    with pytest.raises(ClientFaultError, match="unexpected keyword argument") as raised:
        await faulty.ask("s", "u", max_tokens=10)
    assert "again later" not in str(raised.value)
    assert not raised.value.retryable


async def test_a_fault_of_our_own_is_not_hidden() -> None:
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    def fail(_message: AIMessage) -> bool:
        raise AttributeError("a fault in whoever reads the reply")

    odd = Chat(GenericFakeChatModel(messages=iter([AIMessage("x")])), ChatSettings("fake:x"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reply_budget, "_thinks_aloud", fail)
        with pytest.raises(AttributeError):
            await odd.ask("s", "u", max_tokens=10)
