"""One way to talk to any chat model: a system message, a user message, text back, in bounded time.

The provider's own client retries (429, 5xx, lost connections); a deadline bounds the whole call. What can go wrong is
sorted into two kinds: what the user configured is wrong (key, model name) and must be said at once, and what a provider
broke, which a step may survive by doing without.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from anabranch.errors import AnabranchError, MissingKeyError, ModelError, SettingsError
from anabranch.models.clients import Clients, Pool
from anabranch.models.provider_errors import sorted_error
from anabranch.models.reply_budget import RESERVES, ChatReply, level_of, reply_pieces
from anabranch.models.structured_output import (
    Means,
    Model,
    Schema,
    Structured,
    cut_short,
    means_of,
    refused,
    remember,
    shaped,
)
from anabranch.safety.key_redaction import keys_of, redacted
from anabranch.safety.operator import key_for

# LangGraph leaves calls with this tag out of its `messages` stream (langgraph.constants.TAG_NOSTREAM); what a reader
# may see of an answer is pushed there by the node, after checking.
_UNSEEN: RunnableConfig = {"tags": ["nostream"]}

_PROVIDERS_WITH_BASE_URL = frozenset({"openai", "ollama", "anthropic", "groq", "deepseek", "mistralai"})

SHAPES = 32
"""Shapes of replies that a model is kept for."""


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What decides how a model is reached; hashable, because clients are kept per distinct settings."""

    model: str
    base_url: str | None = None
    temperature: float = 0.0
    timeout: float = 60.0
    retries: int = 2
    structured: Structured = "auto"


def _new_client(settings: ChatSettings) -> BaseChatModel:
    import openai
    from langchain.chat_models import init_chat_model

    options: dict[str, Any] = {
        "temperature": settings.temperature,
        "timeout": settings.timeout,
        "max_retries": settings.retries,
    }
    provider, colon, _ = settings.model.partition(":")
    if settings.base_url:
        options |= {"base_url": settings.base_url, "api_key": key_for(settings.base_url) or "not-needed"}
        if not colon or provider not in _PROVIDERS_WITH_BASE_URL:
            options["model_provider"] = provider = "openai"
    if provider == "openai":
        # langchain-openai's default is one pool for the whole process, whichever loop opened it.
        options["http_async_client"] = openai.DefaultAsyncHttpxClient(timeout=settings.timeout)
        # The deadline of the whole call is the bound; its own, of 120 s, would cut off a slow machine's first token.
        options["stream_chunk_timeout"] = None
    client: BaseChatModel = init_chat_model(settings.model, **options)
    return client


class Chat:
    """A chat model ready for use; create it through `load_chat`."""

    def __init__(self, client: BaseChatModel, settings: ChatSettings) -> None:
        """Keep the client and the settings that its errors will name."""
        self._client = client
        # LangChain streams every call while somebody listens to the graph's messages, which is most of its cost.
        self._quiet = client.model_copy(update={"disable_streaming": True})
        self.settings = settings
        self._who = (settings.model, settings.base_url)
        self._told: dict[tuple[Means, str], Model | None] = {}

    @property
    def context_tokens(self) -> int | None:
        """Tokens that a prompt may have, by the model's published profile; None where it has none."""
        return (self._client.profile or {}).get("max_input_tokens")

    @property
    def pool(self) -> Pool | None:
        """The connections that this client alone uses; None where its package keeps them."""
        pool: Pool | None = getattr(self._client, "http_async_client", None)
        return pool

    @property
    def thoughts(self) -> int:
        """Tokens that each call may take beside those of its reply, by what was learned of the model."""
        return RESERVES[level_of(self._who)]

    async def ask(self, system: str, user: str, *, max_tokens: int, schema: Schema | None = None) -> str:
        """Return the whole reply as text.

        Args:
            system: Instructions; never holds passage text.
            user: Question, passages, drafts.
            max_tokens: Length the reply may have.
            schema: What the reply should look like, asked for by the strongest means the model has. The reply may
                look different all the same.

        Raises:
            MissingKeyError: The provider refused the key.
            SettingsError: The provider does not know the model.
            RequestRefusedError: The provider refuses the request as it is.
            ModelError: The provider is down, slow, overloaded, or its reply cannot be read.
        """
        messages: list[BaseMessage] = [SystemMessage(system), HumanMessage(user)]
        if schema is None:
            return await self._whole(self._quiet, messages, max_tokens)
        *stronger, weakest = means_of(self._client, self._who, self.settings.structured)
        for means in stronger:
            if (model := self._shaped(schema, means)) is None:
                continue
            try:
                reply = await self._whole(model, messages, max_tokens, last=False)
            except ModelError as error:
                if not refused(error.__cause__):
                    raise
            else:
                remember(self._who, means)
                return reply
        plain = self._shaped(schema, weakest) or self._quiet
        reply = await self._whole(plain, messages, max_tokens)
        if self.settings.structured == "auto":
            remember(self._who, weakest)
        return reply

    def _shaped(self, schema: Schema, means: Means) -> Model | None:
        """Return the model told to reply in a shape; LangChain takes a millisecond to tell it."""
        key = means, json.dumps(schema)
        if key not in self._told:
            if len(self._told) >= SHAPES:
                self._told.clear()
            self._told[key] = shaped(self._quiet, schema, means)
        return self._told[key]

    async def _whole(self, model: Model, messages: list[BaseMessage], max_tokens: int, *, last: bool = True) -> str:
        """Return the reply in one piece; what is refused while there is another means (not `last`) is not counted."""

        async def call(reply: ChatReply) -> AsyncGenerator[str]:
            yield reply.take(await self._message(model, reply))

        text = ""
        async for reply, _ in reply_pieces(call, self._who, messages, max_tokens, last=last):
            text = reply.text
        return text

    async def _message(self, model: Model, reply: ChatReply) -> BaseMessage:
        try:
            async with asyncio.timeout(self.settings.timeout):
                return await model.ainvoke(reply.messages, config=_UNSEEN, **self._limit(reply.ceiling))
        except Exception as error:  # providers raise types of their own; each is sorted below
            if (half := cut_short(error)) is not None:
                return half
            raise _sorted_error(error, self.settings, keys_of(self._client)) from error

    async def stream(self, system: str, user: str, *, max_tokens: int) -> AsyncIterator[str]:
        """Yield the reply as it comes; same errors as `ask`, also in the middle.

        It is asked for again only where nothing of it could be seen.
        """
        messages: list[BaseMessage] = [SystemMessage(system), HumanMessage(user)]
        async with aclosing(reply_pieces(self._pieces, self._who, messages, max_tokens, shown=True)) as pieces:
            async for _, piece in pieces:
                yield piece

    async def _pieces(self, reply: ChatReply) -> AsyncGenerator[str]:
        chunks = aiter(self._client.astream(reply.messages, config=_UNSEEN, **self._limit(reply.ceiling)))
        deadline = asyncio.get_running_loop().time() + self.settings.timeout
        while not reply.full and (chunk := await self._next(chunks, deadline)) is not None:
            yield reply.take(chunk)
            # What has arrived in one piece is read without waiting: others must have their turn all the same.
            await asyncio.sleep(0)

    async def _next(self, chunks: AsyncIterator[BaseMessage], deadline: float) -> BaseMessage | None:
        try:
            # Around the wait alone: whoever reads the pieces must not be cancelled in its place.
            async with asyncio.timeout_at(deadline):
                return await anext(chunks, None)
        except Exception as error:  # providers raise types of their own; each is sorted below
            raise _sorted_error(error, self.settings, keys_of(self._client)) from error

    def _limit(self, tokens: int) -> dict[str, Any]:
        """Return how the client of this provider is told the length that a reply may have."""
        if "num_predict" in type(self._client).model_fields:
            # Ollama, where the options of a call take the place of all that were set.
            return {"options": {"temperature": self.settings.temperature, "num_predict": tokens}}
        return {"max_tokens": tokens}


def _sorted_error(error: Exception, settings: ChatSettings, sent: Collection[str]) -> AnabranchError:
    """Tell a wrong configuration from a provider's failure, whatever the provider's client raised."""
    return sorted_error(
        error,
        repr(settings.model),
        where=settings.base_url or "the provider",
        key="Check the key in the provider's environment variable: OPENAI_API_KEY, or for a server of your own "
        "ANABRANCH_BASE_URL_KEY, which is sent to the address in ANABRANCH_BASE_URL only.",
        settings="Check `model` and `base_url`.",
        refusal="If this is about its length, lower window_tokens or answer_tokens, or set context_tokens; if it is "
        "about the model, check `model` and `base_url`.",
        sent=sent,
        seconds=settings.timeout,
    )


def _new_chat(settings: ChatSettings) -> Chat:
    return Chat(_new_client(settings), settings)


_clients: Clients[ChatSettings, Chat] = Clients(_new_chat, lambda chat: chat.pool)


async def close_chats() -> None:
    """Close the connections of this event loop's models, before a program ends the loop and goes on with another."""
    await _clients.close()


async def load_chat(settings: ChatSettings) -> Chat:
    """Return a chat model; the last ones are kept.

    Raises:
        MissingKeyError: The provider wants a key and its environment variable is empty.
        SettingsError: The spelling of the model, or the provider, is unknown.
    """
    try:
        return await _clients.of(settings)
    except ImportError as error:
        msg = f"The provider of {settings.model!r} is not installed: {error}"
        raise SettingsError(msg, hint="Install the package that the message names.") from error
    except Exception as error:  # each provider's client says in its own way that it cannot start
        said = redacted(" ".join(str(error).split()))[:300]
        if "key" in said.lower() or "credential" in said.lower():
            msg = f"The model {settings.model!r} needs a key: {said}"
            raise MissingKeyError(
                msg, hint="Set the provider's environment variable, such as OPENAI_API_KEY."
            ) from error
        msg = f"The model {settings.model!r} cannot be used: {said}"
        raise SettingsError(
            msg, hint="Spell it 'provider:name' (openai:gpt-5-mini), or give base_url as well."
        ) from error
