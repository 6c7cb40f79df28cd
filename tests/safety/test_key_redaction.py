"""A key that a server repeats in its error reaches no message, state, trace or checkpoint."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch.errors import AnabranchError
from anabranch.models.chat import ChatSettings, load_chat
from anabranch.models.openai_embedding import OpenAIEmbedder
from anabranch.models.rerankers.cohere import CohereReranker
from anabranch.safety.key_redaction import redacted
from anabranch.safety.operator import environment
from tests.servers.calls import Request
from tests.servers.cohere_stub import CohereStub
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply

KEY = "sk-proj-0123456789abcdef"


def echoing(status: int) -> Any:
    """Refuse a request and repeat what it was signed with, as proxies do that log too much."""

    def play(request: Request) -> Reply:
        signed = request.headers.get("authorization", "")
        return Reply(f"bad request: Authorization: {signed}; key {signed.removeprefix('Bearer ')}", status)

    return play


@pytest.mark.parametrize(
    "name", ["ANABRANCH_BASE_URL_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN"]
)
def test_keys_of_the_environment_are_taken_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, KEY)
    assert redacted(f"Schlüssel {KEY} ungültig, clé {KEY}") == "Schlüssel *** ungültig, clé ***"


def test_a_key_that_holds_another_goes_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_API_KEY", KEY)
    monkeypatch.setenv("B_API_KEY", f"{KEY}-and-more")
    assert redacted(f"no: {KEY}-and-more") == "no: ***"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Authorization: Bearer abc.def-ghi", "Authorization: ***"),
        ("{'authorization': 'Bearer abc.def', 'host': 'x'}", "{'authorization': '***', 'host': 'x'}"),
        ('{"Authorization": "Basic dXNlcjpwdw=="}', '{"Authorization": "***"}'),
        ("the token Bearer abc.def is unknown", "the token Bearer *** is unknown"),
        ('"x-api-key": "abc-1234", "y": 1', '"x-api-key": "***", "y": 1'),
        ("GET http://user:pw@host/v1?key=abcdefgh&x=1", "GET http://***@host/v1?key=***&x=1"),
    ],
)
def test_what_signs_a_request_is_taken_out_whosever_it_is(said: str, kept: str) -> None:
    assert redacted(said) == kept


@pytest.mark.parametrize(
    "said", ["The model `gpt-5` does not exist", "maximum context length is 8192 tokens", "key not found", "x-y: z"]
)
def test_other_words_stay(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("OTHER_KEY", "")
    assert redacted(said) == said


@pytest.mark.loopback
@pytest.mark.parametrize("status", [400, 401, 404, 500])
async def test_no_error_of_a_model_says_its_key(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_BASE_URL_KEY", KEY)
    monkeypatch.setenv("CO_API_KEY", KEY)
    with OpenAIStub(echoing(status), embedding=echoing(status)) as stub, CohereStub(echoing(status)) as cohere:
        monkeypatch.setenv("ANABRANCH_BASE_URL", stub.base_url)
        chat = await load_chat(ChatSettings("openai:redacted", stub.base_url, retries=0))
        # What was sent is what counts, whatever the environment says by then.
        errors = [await _error_of(chat.ask("s", "u", max_tokens=10))]
        reranker = CohereReranker(base_url=cohere.base_url, timeout=3.0, retries=0)
        errors.append(await _error_of(reranker.relevance("q", ["a", "b"])))
        embedder = OpenAIEmbedder("m", stub.base_url)
        with pytest.raises(AnabranchError) as raised:
            embedder.embed(["a"])
        errors.append(raised.value)
        monkeypatch.delenv("ANABRANCH_BASE_URL_KEY")
        environment.cache_clear()
        errors.append(await _error_of(chat.ask("s", "u", max_tokens=10)))
        assert all(KEY in call.request.headers["authorization"] for call in [*stub.calls, *cohere.calls])
    assert not [error for error in errors if KEY in str(error)]
    assert status == 401 or all("bad request" in str(error) for error in errors)


async def _error_of(call: Any) -> AnabranchError:
    with pytest.raises(AnabranchError) as raised:
        await call
    return raised.value
