"""One way to talk to any chat model: a system message, a user message, text back, in bounded time.

The provider's own client retries (429, 5xx, lost connections); a deadline bounds the whole call. What can go wrong is
sorted into two kinds: what the user configured is wrong (key, model name) and must be said at once, and what a provider
broke, which a step may survive by doing without.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig

from anabranch.errors import AnabranchError, MissingKeyError, RequestRefusedError, SettingsError
from anabranch.models.clients import Clients, Pool
from anabranch.models.document_blocks import ChatRequest, CitedText, as_request
from anabranch.models.lru import LRU
from anabranch.models.provider_errors import is_timeout, sorted_error
from anabranch.models.providers import ChatSettings, length_limit, new_client
from anabranch.models.reply_budget import RESERVES, ChatReply, ThoughtRoom, learned_of, reply_pieces
from anabranch.models.usage import forget_failure, note_timeout
from anabranch.parsing.reasoning_blocks import ThinkingFilter, drop_thinking
from anabranch.parsing.yes_or_no import yes_probability
from anabranch.registry import object_name
from anabranch.safety.key_redaction import keys_of, redacted

# LangGraph leaves calls with this tag out of its `messages` stream (langgraph.constants.TAG_NOSTREAM); what a reader
# may see of an answer is pushed there by the node, after checking.
_UNSEEN: RunnableConfig = {"tags": ["nostream"]}

# The most alternatives that OpenAI tells of each word.
_CHANCES = MappingProxyType({"logprobs": True, "top_logprobs": 20})


class Chat:
    """A chat model ready for use; create it through `load_chat` or `given_chat`."""

    def __init__(
        self, client: BaseChatModel, settings: ChatSettings, *, name: str = "", remarks: tuple[str, ...] = ()
    ) -> None:
        """Keep the client; `name` tells it apart from others of the same model, `remarks` say what it does not take."""
        self._client = client
        self.remarks = remarks
        # LangChain streams every call while somebody listens to the graph's messages, which is most of its cost.
        self._quiet = client.model_copy(update={"disable_streaming": True})
        self.settings = settings
        self.learned = learned_of(settings.model, name or settings.base_url)
        profile = client.profile or {}
        # One who says that it may think long needs the room at once.
        least = (2 if settings.reasoning_effort == "high" else 1) if profile.get("reasoning_output") else 0
        most = profile.get("max_output_tokens")
        self._room = ThoughtRoom(settings.model, self.learned, least, most, settings.base_url)

    @property
    def context_tokens(self) -> int | None:
        """Tokens that a prompt may have, by the model's published profile; None where it has none."""
        return (self._client.profile or {}).get("max_input_tokens")

    @property
    def is_hosted(self) -> bool:
        """Whether a provider serves it, with a published profile; behind a `base_url`, a name may mean any model."""
        return self.settings.base_url is None and self.context_tokens is not None

    @property
    def pool(self) -> Pool | None:
        """The connections that this client alone uses; None where its package keeps them."""
        pool: Pool | None = getattr(self._client, "http_async_client", None)
        return pool

    @property
    def thoughts(self) -> int:
        """Tokens that each call may take beside those of its reply, by the model's profile and what was learned."""
        return RESERVES[self._room.level]

    @property
    def takes_documents(self) -> bool:
        """Whether the provider cites passages by itself where it is sent them as documents."""
        return self._client.get_lc_namespace()[-1] == "anthropic" and not self.learned.refuses_documents

    @property
    def tells_chances(self) -> bool:
        """Whether the provider's client can ask how probable each word of a reply was."""
        return "openai" in self._client.get_lc_namespace()[-1] and not self.learned.refuses_logprobs

    async def ask(self, system: str, user: str, *, max_tokens: int, documents: bool = False) -> str:
        """Return the whole reply as text, without what the model thought aloud.

        Args:
            system: Instructions; never holds passage text.
            user: Question, passages, drafts.
            max_tokens: Length the reply may have.
            documents: Whether the passages in `user` are sent as documents where the model takes some; what it cites
                stands in the reply as markers.

        Raises:
            MissingKeyError: The provider refused the key.
            SettingsError: The provider does not know the model.
            RequestRefusedError: The provider refuses the request as it is.
            ModelError: The provider is down, slow, overloaded, or its reply cannot be read.
        """
        # The last one counts: a reply that was lost to thoughts is followed by another.
        text = ""
        async with aclosing(self._replies(system, user, max_tokens, documents=documents)) as replies:
            async for reply, _ in replies:
                text = reply.text
        return drop_thinking(text)

    async def ask_list(self, system: str, user: str, *, max_tokens: int) -> tuple[str, bool]:
        """Return a reply as `ask` does, and whether its limit cut it off, which the caller then reports."""
        text, is_cut = "", False
        async with aclosing(self._replies(system, user, max_tokens, documents=False)) as replies:
            async for reply, _ in replies:
                text, is_cut = reply.text, reply.is_cut
        if is_cut:
            forget_failure()
        return drop_thinking(text), is_cut

    async def stream(self, system: str, user: str, *, max_tokens: int, documents: bool = False) -> AsyncIterator[str]:
        """Yield the reply as it comes; arguments and errors are those of `ask`, errors also in the middle.

        It is asked for again only where nothing of it could be seen.
        """
        thinking, of = ThinkingFilter(), None
        asked = self._replies(system, user, max_tokens, documents=documents, is_shown=True)
        # Closed here, so that the call is counted and its connection let go now, not when the garbage is collected.
        async with aclosing(asked) as replies:
            async for reply, piece in replies:
                if reply is not of:  # what is held of a reply that was given up is a thought
                    thinking, of = ThinkingFilter(), reply
                if text := thinking.feed(piece):
                    yield text
        if text := thinking.finish():
            yield text

    async def ask_yes(self, system: str, user: str, *, max_tokens: int) -> float | None:
        """Return how probable a yes is, 0 to 1, by its probability where the server tells it, else by the word.

        None where the reply says neither yes nor no; arguments and errors are those of `ask`.
        """
        if not self.tells_chances:
            return yes_probability(await self.ask(system, user, max_tokens=max_tokens))
        said: ChatReply | None = None
        call = partial(self._whole, numbers=(), further=_CHANCES)
        try:
            messages = as_request(system, user).messages
            async with aclosing(reply_pieces(call, self._room, messages, max_tokens)) as replies:
                async for reply, _ in replies:
                    said = reply
        except RequestRefusedError:
            answer = yes_probability(await self.ask(system, user, max_tokens=max_tokens))
            # Only now: a request that is refused without them as well says nothing about them.
            self.learned.refuses_logprobs = True
            return answer
        return yes_probability(said.text, said.logprobs) if said else None

    async def _replies(
        self, system: str, user: str, max_tokens: int, *, documents: bool, is_shown: bool = False
    ) -> AsyncGenerator[tuple[ChatReply, str]]:
        """Yield the pieces of a reply, each with its reply; ask again without documents if they are refused."""

        def replies(request: ChatRequest) -> AsyncGenerator[tuple[ChatReply, str]]:
            call = partial(self._in_pieces if is_shown else self._whole, numbers=request.numbers)
            return reply_pieces(call, self._room, request.messages, max_tokens, is_shown=is_shown)

        request = as_request(system, user, documents=documents and self.takes_documents)
        begun = False
        try:
            async with aclosing(replies(request)) as pieces:
                async for reply, piece in pieces:
                    begun = begun or bool(piece)
                    yield reply, piece
        except RequestRefusedError:
            if begun or not request.numbers:
                raise
            async with aclosing(replies(as_request(system, user))) as pieces:
                async for reply, piece in pieces:
                    yield reply, piece
            # Only now: a request that is refused without documents as well says nothing about documents.
            self.learned.refuses_documents = True

    async def _whole(
        self, reply: ChatReply, numbers: Sequence[int], further: Mapping[str, Any] = MappingProxyType({})
    ) -> AsyncGenerator[str]:
        cited = CitedText(numbers)
        with self._sorted_errors():
            async with asyncio.timeout(self.settings.timeout):
                message = await self._quiet.ainvoke(
                    reply.messages, config=_UNSEEN, **length_limit(self._client, reply.ceiling), **further
                )
        reply.take(cited.read(message))
        yield reply.take(AIMessage(cited.finish()))

    async def _in_pieces(self, reply: ChatReply, numbers: Sequence[int]) -> AsyncGenerator[str]:
        chunks = aiter(
            self._client.astream(reply.messages, config=_UNSEEN, **length_limit(self._client, reply.ceiling))
        )
        seconds = self.settings.timeout
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        cited = CitedText(numbers)
        while not reply.full and (chunk := await self._next(chunks, deadline)) is not None:
            yield reply.take(cited.read(chunk))
            # What has arrived in one piece is read without waiting: others must have their turn all the same.
            await asyncio.sleep(0)
        yield reply.take(AIMessage(cited.finish()))

    async def _next(self, chunks: AsyncIterator[BaseMessage], deadline: float | None) -> BaseMessage | None:
        with self._sorted_errors():
            # Around the wait alone: whoever reads the pieces must not be cancelled in its place.
            async with asyncio.timeout_at(deadline):
                return await anext(chunks, None)

    @contextmanager
    def _sorted_errors(self) -> Iterator[None]:
        """Tell a wrong configuration from a provider's failure, whatever the provider's client raises."""
        try:
            yield
        except Exception as error:
            if is_timeout(error):
                note_timeout()
            raise sorted_error(
                error,
                repr(self.settings.model),
                where=self.settings.base_url or "the provider",
                key="Check the key in the provider's environment variable: OPENAI_API_KEY, or for a server of your own "
                "ANABRANCH_BASE_URL_KEY, which is sent to the address in ANABRANCH_BASE_URL only.",
                settings="Check `model` and `base_url`.",
                refusal="If this is about its length, lower window_tokens or answer_tokens, or set context_tokens; if "
                "it is about the model, check `model` and `base_url`.",
                sent=keys_of(self._client),
                seconds=self.settings.timeout,
            ) from error


def _new_chat(settings: ChatSettings) -> Chat:
    client, remarks = new_client(settings)
    return Chat(client, settings, remarks=remarks)


_clients: Clients[ChatSettings, Chat] = Clients(_new_chat, lambda chat: chat.pool)

# Models given in code that are kept with what was learned of them.
GIVEN = 64
_given: LRU[int, Chat] = LRU(GIVEN)
_numbers = count(1)


def given_chat(client: BaseChatModel) -> Chat:
    """Return the chat of a model object, which alone decides how long a call may take and how often it is tried."""
    chat = _given.get(id(client))
    if chat is None:  # the chat holds its object, so that no other can have its id while it is kept
        chat = Chat(client, ChatSettings(object_name(client), timeout=None), name=f"object {next(_numbers)}")
        _given.set(id(client), chat)
    return chat


async def load_chat(settings: ChatSettings) -> Chat:
    """Return a chat model; the last ones are kept.

    Raises:
        MissingKeyError: The provider wants a key and its environment variable is empty.
        SettingsError: The spelling of the model, or the provider, is unknown.
    """
    try:
        return await _clients.get(settings)
    except AnabranchError:
        raise
    except ImportError as error:
        msg = f"The provider of {settings.model!r} is not installed: {error}"
        raise SettingsError(msg, hint="Install the package that the message names.") from error
    except Exception as error:  # each provider's client says in its own way that it cannot start
        said = redacted(" ".join(str(error).split()))[:300]
        spelled = "Spell it 'provider:name' (openai:gpt-5-mini), or give base_url as well."
        # `init_chat_model` says it with a list of all its providers, of which these would be the first half.
        if "model_provider" in said:
            provider, colon, _ = settings.model.partition(":")
            what = f"there is no provider {provider!r} of chat models" if colon else "it names no provider"
            raise SettingsError(f"The model {settings.model!r} cannot be used: {what}.", hint=spelled) from error
        # Each client has its own type for a missing key; the words are what they have in common.
        if "key" in said.lower() or "credential" in said.lower():
            msg = f"The model {settings.model!r} needs a key: {said}"
            raise MissingKeyError(
                msg, hint="Set the provider's environment variable, such as OPENAI_API_KEY."
            ) from error
        msg = f"The model {settings.model!r} cannot be used: {said}"
        raise SettingsError(msg, hint=spelled) from error
