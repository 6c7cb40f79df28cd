"""Makes the LangChain client of a provider: what each calls its address and its key, and which options it takes.

`init_chat_model` imports the provider's package when it is first asked for; nothing here does before.
"""

from __future__ import annotations

import json
import re
import ssl
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from anabranch.errors import SettingsError
from anabranch.safety.operator import key_for

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Effort = Literal["minimal", "low", "medium", "high"]

# Providers that take an address, and what their clients call the key for it.
KEY_NAMES: Mapping[str, str] = {
    "openai": "api_key",
    "ollama": "api_key",
    "anthropic": "api_key",
    "groq": "api_key",
    "deepseek": "api_key",
    "mistralai": "api_key",
    "openrouter": "api_key",
    "cohere": "cohere_api_key",
    "google_genai": "google_api_key",
}

# What one call may take where nobody has said: a model on a few processor cores reads a whole prompt at 15 tokens a
# second, and an answer that was under way would be thrown away.
HOSTED_SECONDS, OWN_SECONDS = 60.0, 300.0

# Told by the name alone: what a secret looks like differs from provider to provider.
_SECRET = re.compile(r"key|token\Z|secret|password|credential|auth|cookie|bearer", re.IGNORECASE)
_ADDRESS = re.compile(r"url|base\Z|endpoint|proxy|proxies|host|client|transport", re.IGNORECASE)
_OWN = {"model", "model_name", "timeout", "request_timeout", "max_retries", "max_tokens", "streaming"}
_OURS = _OWN | {"reasoning_effort", "disable_streaming", "profile", "cache", "callbacks", "rate_limiter"}


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What decides how a model is reached; hashable, because clients are kept per distinct settings.

    Attributes:
        model: Its name, as `init_chat_model` spells it.
        base_url: Its server; None for the provider's own.
        timeout: Seconds that one call may take; None where the client alone decides.
        retries: Further tries of the provider's client.
        model_kwargs: Further options of the client, a JSON object.
        reasoning_effort: How long a model that thinks before it writes may think.
    """

    model: str
    base_url: str | None = None
    timeout: float | None = HOSTED_SECONDS
    retries: int = 2
    model_kwargs: str = "{}"
    reasoning_effort: Effort | None = None


def usual_seconds(model: str, base_url: str | None) -> float:
    """Return how long one call may take where nobody has said: longer at a server of one's own."""
    return OWN_SECONDS if base_url or model.startswith("ollama:") else HOSTED_SECONDS


def without_secrets(options: dict[str, Any]) -> dict[str, Any]:
    """Return options as they are; refuse such as hold a secret, an address, or what has a setting of its own.

    They are kept with a thread and may come from a caller: a secret in them would be written down, and an address would
    be sent the operator's key.

    Raises:
        ValueError: Says which.
    """
    for name in options:
        if name in _OURS:
            raise ValueError(f"{name!r} has a setting of its own, or none")
    # At any depth: `extra_body` and `default_headers` hold whole requests.
    for name, value in _flat(options):
        if _SECRET.search(name):
            raise ValueError(f"{name!r} looks like a secret: keys are read from the provider's environment variable")
        if _ADDRESS.search(name) or (isinstance(value, str) and "://" in value):
            raise ValueError(f"{name!r} looks like an address: it belongs in base_url, or in the environment")
    return options


def _flat(options: Any) -> list[tuple[str, Any]]:  # noqa: ANN401  # JSON
    """Return every name and value, at whatever depth."""
    if isinstance(options, list | tuple):
        return [pair for each in options for pair in _flat(each)]
    if not isinstance(options, Mapping):
        return []
    return [pair for name, value in options.items() for pair in [(str(name), value), *_flat(value)]]


def new_client(settings: ChatSettings) -> tuple[BaseChatModel, tuple[str, ...]]:
    """Make a client.

    Returns:
        The client, and what of the settings it does not take.

    Raises:
        SettingsError: An option is not known to this client.
    """
    from langchain.chat_models import init_chat_model

    options, given = _options(settings), json.loads(settings.model_kwargs)
    with warnings.catch_warnings():
        if given:
            warnings.simplefilter("ignore")  # langchain-openai warns of an unknown option; the error below says it
        client: BaseChatModel = init_chat_model(settings.model, **{**options, **given})
    known = {each for name, field in type(client).model_fields.items() for each in (name, field.alias)}
    # Some clients pass on what they do not know, and servers ignore it: a misspelled option would do nothing.
    if unknown := sorted(set(given) - known):
        msg = f"model_kwargs: {type(client).__name__} has no option {', '.join(map(repr, unknown))}."
        raise SettingsError(
            msg, hint="Its LangChain page lists them; OpenAI's has `extra_body` for what a server adds."
        )
    if client.get_lc_namespace()[-1] == "openai":
        from anabranch.models.chunk_stream import ChunkCompletions

        client = client.model_copy(update={"async_client": ChunkCompletions(client.root_async_client)})  # type: ignore[attr-defined]
    if settings.model.startswith("openrouter:"):
        _retry(client, settings.retries)
    profile = client.profile or {}
    # Reasoning models refuse a request that has one; the client's own default is to send none.
    if profile.get("temperature") is False and type(client).model_fields["temperature"].default is None:
        client = client.model_copy(update={"temperature": None})
    return _with_effort(client, settings)


def _options(settings: ChatSettings) -> dict[str, Any]:
    """Return what the client of this provider is made with."""
    provider, colon, _ = settings.model.partition(":")
    # The same question should get the same answer; `model_kwargs` may say otherwise.
    options: dict[str, Any] = {"temperature": 0.0, "max_retries": settings.retries}
    if settings.base_url:
        if colon and provider == "azure_openai":
            msg = "The provider azure_openai takes no base_url."
            raise SettingsError(msg, hint="Its address is read from AZURE_OPENAI_ENDPOINT.")
        # `qwen2.5:7b` is a model whose name has a colon; a server of one's own speaks OpenAI's protocol.
        if not colon or provider not in KEY_NAMES:
            options["model_provider"] = provider = "openai"
        options["base_url"] = settings.base_url
        # Clients refuse to be made without a key, which most servers of one's own do not want.
        key = key_for(settings.base_url) or "not-needed"
        # Ollama's client takes no key, and sends OLLAMA_API_KEY wherever no other one stands.
        options |= {"client_kwargs": {"headers": {"Authorization": f"Bearer {key}"}}} if provider == "ollama" else {}
        options[KEY_NAMES[provider]] = key
    if provider == "openrouter":
        options["timeout"] = int(settings.timeout * 1000) if settings.timeout else None  # milliseconds
    else:
        options["timeout_seconds" if provider == "cohere" else "timeout"] = settings.timeout
    if provider in ("openai", "azure_openai"):
        options |= {"http_async_client": _pool(settings), "stream_chunk_timeout": None}
    return options


def _pool(settings: ChatSettings) -> Any:  # noqa: ANN401  # an httpx.AsyncClient, which the package need not import
    import openai

    # langchain-openai's default is one pool for the whole process, whichever loop opened it. The deadline of the whole
    # call is the bound (`stream_chunk_timeout`, of 120 s, would cut off a slow machine's first token).
    # What is asked on this machine stays on it: no proxy, no redirection.
    place = urlsplit(settings.base_url or "")
    elsewhere = place.hostname not in ("127.0.0.1", "::1", "localhost")
    # To read the certificates that are trusted takes 30 ms. http needs none; trusting none, the client refuses https.
    trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if place.scheme == "http" and not elsewhere else True
    return openai.DefaultAsyncHttpxClient(
        timeout=settings.timeout, trust_env=elsewhere, follow_redirects=elsewhere, verify=trusted
    )


def _retry(client: Any, retries: int) -> None:  # noqa: ANN401  # a ChatOpenRouter, whose package need not be there
    """Bound the retries of OpenRouter's client, which counts seconds: 150 for each would outlast the deadline."""
    from openrouter.utils import BackoffStrategy, RetryConfig

    most = 1_500 * retries  # milliseconds
    backoff = BackoffStrategy(initial_interval=500, max_interval=8_000, exponent=1.5, max_elapsed_time=most)
    strategy = "backoff" if retries else "none"
    client.client.sdk_configuration.retry_config = RetryConfig(strategy, backoff, retry_connection_errors=retries > 0)


def _with_effort(client: BaseChatModel, settings: ChatSettings) -> tuple[BaseChatModel, tuple[str, ...]]:
    """Return the client with `reasoning_effort` as it takes it, or with a remark where it takes none.

    Raises:
        SettingsError: The model has other levels.
    """
    effort, profile, fields = settings.reasoning_effort, client.profile or {}, type(client).model_fields
    if effort is None:
        return client, ()
    # Models differ in the levels that they have, and a server would refuse others in the middle of a turn.
    levels = profile.get("reasoning_effort_levels")
    if levels and effort not in levels:
        msg = f"{settings.model!r} has no reasoning_effort {effort!r}."
        raise SettingsError(msg, hint=f"It has {', '.join(map(str, levels))}.")
    if profile.get("reasoning_output") is not False:
        if "reasoning_effort" in fields:
            return client.model_copy(update={"reasoning_effort": effort}), ()
        if settings.model.startswith("openrouter:"):
            return client.model_copy(update={"reasoning": {"effort": effort}}), ()
    return client, (f"{settings.model!r} takes no reasoning_effort: it was left out",)


def length_limit(client: BaseChatModel, tokens: int) -> dict[str, Any]:
    """Return how the client of this provider is told the length that a reply may have."""
    fields = type(client).model_fields
    if "num_predict" in fields:
        from ollama import Options

        # Ollama, where the options of a call take the place of all that were set.
        named = {name: getattr(client, name) for name in Options.model_fields if name in fields}
        return {"options": {**{k: v for k, v in named.items() if v is not None}, "num_predict": tokens}}
    return {"max_output_tokens" if "max_output_tokens" in fields else "max_tokens": tokens}
