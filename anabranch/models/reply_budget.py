"""Room for thoughts: tokens that a model which reasons before it writes is given beside those of its reply.

Thoughts count against the limit of a reply, and a model that reaches it in them says nothing at all. A model whose
profile says that it thinks is given room from the first call on; what another one needs is learned from such replies
and kept for the process. A limit costs nothing where it is not used.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.utils import count_tokens_approximately

from anabranch.errors import ModelError, RequestRefusedError
from anabranch.models.call_telemetry import model_call
from anabranch.models.lru import LRU
from anabranch.models.usage import count_call, note_failure, take_repeat
from anabranch.parsing.reasoning_blocks import drop_thinking

# Tokens, level by level; each reply that was lost to thoughts is asked for once more on the next level.
RESERVES = (0, 4_000, 16_000)

# A reply is cut here: a model that never stops must not fill the memory.
MAX_REPLY_CHARS = 200_000

# No text in any script has more characters to the token on average; a reply that has more ignores `max_tokens`.
CHARS_PER_TOKEN = 12

# Characters to the token of its limit below which a reply that reached it cannot be all that the model wrote.
LITTLE = 0.5

MORE = "Raise answer_tokens: a model that thinks before it writes may need them all."

# What says that a reply reached its limit: OpenAI and Ollama, Anthropic, Google.
_CUT_OFF = frozenset({"length", "max_tokens", "MAX_TOKENS"})
# Under what: OpenAI, Anthropic, Ollama.
_REASON_KEYS = ("finish_reason", "stop_reason", "done_reason")
# Of Anthropic and of OpenAI's Responses API.
_THOUGHT_BLOCKS = frozenset({"thinking", "redacted_thinking", "reasoning"})

KEPT = 256


@dataclass(slots=True)
class Learned:
    """What replies have told of a model.

    Attributes:
        level: That of `RESERVES` which its thoughts need.
        marks_alone: Whether it wrote markers and no words, so that it is asked plainly from then on.
        refuses_documents: Whether it refused a request with passages as documents.
        refuses_logprobs: Whether it refused a request for the probabilities of its words.
    """

    level: int = 0
    marks_alone: bool = False
    refuses_documents: bool = False
    refuses_logprobs: bool = False


# By model and address: a client, made anew for each event loop, would have to learn it again. Owner: this module.
_learned: LRU[tuple[str, str | None], Learned] = LRU(KEPT)


def learned_of(model: str, address: str | None) -> Learned:
    """Return what is known of a model, to be added to; kept for the process."""
    return _learned.setdefault((model, address), Learned())


@dataclass(frozen=True, slots=True)
class ThoughtRoom:
    """The room that a model needs.

    Attributes:
        model: Its name.
        learned: What is known of it.
        least: The level that calls begin on in any case.
        most: Tokens that the model can write at all; None where nobody says.
        server: The address of its server; None for the provider's own.
    """

    model: str
    learned: Learned
    least: int = 0
    most: int | None = None
    server: str | None = None

    @property
    def level(self) -> int:
        """The level that calls begin on."""
        return max(self.least, self.learned.level)

    def reserve(self, level: int, max_tokens: int) -> int:
        """Return the tokens for thoughts beside a reply."""
        return RESERVES[level] if self.most is None else max(0, min(RESERVES[level], self.most - max_tokens))

    def learn(self, level: int) -> None:
        """Begin on this level from now on, unless a higher one was learned meanwhile."""
        self.learned.level = max(level, self.learned.level)


class ChatReply:
    """One call to a model: its request, the text of its reply so far, and what it cost.

    Attributes:
        messages: The request.
        max_tokens: Tokens that the reply itself may have.
        ceiling: Tokens that the model may write, with those of its thoughts.
        text: What was said.
        logprobs: What the server tells of the probability of each word, where it was asked for that.
    """

    def __init__(self, messages: list[BaseMessage], max_tokens: int, reserve: int = 0) -> None:
        """Begin with nothing said; `reserve` is the room for thoughts."""
        self.messages = messages
        self.max_tokens = max_tokens
        self.ceiling = max_tokens + reserve
        self.text = ""
        self.logprobs: object = None
        self._most = min(MAX_REPLY_CHARS, CHARS_PER_TOKEN * self.ceiling)
        self._prompt = 0
        self._output = 0
        self._thoughts = 0
        self._cut = False

    @property
    def full(self) -> bool:
        """Whether it has more characters than any honest reply of its length."""
        return len(self.text) >= self._most

    @property
    def is_cut(self) -> bool:
        """Whether it reached its limit."""
        return self._cut

    @property
    def visible(self) -> str:
        """What is left of it without its thoughts."""
        return drop_thinking(self.text).strip()

    @property
    def _has_thought(self) -> bool:
        return self._thoughts > 0 or bool(self.text)

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the request, estimated where the provider reports none."""
        return self._prompt or count_tokens_approximately(self.messages)

    @property
    def output_tokens(self) -> int:
        """Tokens of the reply, estimated where the provider reports none."""
        return self._output or count_tokens_approximately([AIMessage(self.text)])

    @property
    def starved(self) -> bool:
        """Whether the model reached its limit before it had said much: its thoughts took the room."""
        # Not every server says why a reply ended: one that used all it had, or only thought, was cut off as well.
        if not self._cut and (self.visible or (self._output < self.ceiling and not self._has_thought)):
            return False
        return self._thoughts > 0 or len(self.visible) < LITTLE * self.max_tokens

    def take(self, chunk: BaseMessage) -> str:
        """Add a message or a chunk of one; return its text, cut where the reply is full."""
        usage = getattr(chunk, "usage_metadata", None) or {}
        # Usage comes in one piece or in several; of several the largest is that of the whole reply.
        self._prompt = max(self._prompt, usage.get("input_tokens", 0))
        self._output = max(self._output, usage.get("output_tokens", 0))
        self._thoughts = max(self._thoughts, (usage.get("output_token_details") or {}).get("reasoning", 0))
        if _thinks_aloud(chunk):
            self._thoughts = max(self._thoughts, 1)
        text = chunk.text[: self._most - len(self.text)]
        self.text += text
        self.logprobs = chunk.response_metadata.get("logprobs") or self.logprobs
        ended = {chunk.response_metadata.get(key) for key in _REASON_KEYS}
        self._cut = self._cut or self.full or not _CUT_OFF.isdisjoint(map(str, ended))
        return text

    def check(self, model: str) -> None:
        """Refuse an empty reply: gateways send one when a filter took the text away.

        Raises:
            ModelError: There is none, or only thoughts that reached the limit.
        """
        if self.starved and not self.visible:
            msg = f"{model!r} answered with nothing: its thoughts took all {self.ceiling:,} tokens."
            raise ModelError(msg, hint=MORE)
        if not self.visible:
            msg = f"{model!r} answered with nothing."
            raise ModelError(msg, hint="Try again later.")
        if self._cut:
            note_failure(f"a reply of the model was cut off at its length limit{'. ' + MORE if self.starved else ''}")

    def count(self, *, refused: bool) -> None:
        """Put the call on the meter in force, unless it was refused and something else is tried."""
        # With room for thoughts a refusal is not the last word: it is asked again without, or without more.
        if not refused or self.ceiling == self.max_tokens:
            count_call(self.prompt_tokens, self.output_tokens)


def _thinks_aloud(chunk: BaseMessage) -> bool:
    """Tell whether a message holds thoughts apart from its text, as several providers send them."""
    # DeepSeek's field, which many servers of open models have taken over.
    if chunk.additional_kwargs.get("reasoning_content"):
        return True
    blocks = chunk.content if isinstance(chunk.content, list) else []
    return any(isinstance(block, dict) and block.get("type") in _THOUGHT_BLOCKS for block in blocks)


# Calls the model, fills the reply and yields its text, in one piece or in many.
Call = Callable[[ChatReply], AsyncGenerator[str]]


async def reply_pieces(
    call: Call,
    room: ThoughtRoom,
    messages: list[BaseMessage],
    max_tokens: int,
    *,
    is_shown: bool = False,
) -> AsyncGenerator[tuple[ChatReply, str]]:
    """Yield the pieces of a reply, each with its reply; ask again with more room if thoughts took all of it.

    Raises:
        ModelError: The provider failed, or nothing was said.
    """
    level = room.level
    reserve = room.reserve(level, max_tokens)
    reply = ChatReply(messages, max_tokens, reserve)
    try:
        async with aclosing(_call_model(call, reply, room, is_shown=is_shown)) as pieces:
            async for piece in pieces:
                yield reply, piece
    except RequestRefusedError:
        if not reserve or reply.text:
            raise
        # Beside this prompt there may be no room for thoughts.
        reply = ChatReply(messages, max_tokens)
        async with aclosing(_call_model(call, reply, room, is_shown=is_shown)) as pieces:
            async for piece in pieces:
                yield reply, piece
    else:
        # Text that was shown cannot be taken back: only the next call gets more room.
        if is_shown and reply.starved and reply.visible and level + 1 < len(RESERVES):
            room.learn(level + 1)
        elif reply.starved and (further := _larger_reply(reply, room, level)) is not None:
            # Some servers refuse a limit beyond their context: then the first reply is all there is.
            with suppress(RequestRefusedError):
                async with aclosing(_call_model(call, further, room, is_shown=is_shown)) as pieces:
                    async for piece in pieces:
                        yield further, piece
                room.learn(level + 1)
                reply = further
    reply.check(room.model)


def _larger_reply(reply: ChatReply, room: ThoughtRoom, level: int) -> ChatReply | None:
    """Return the same request with more room, None if the model has no more or the budget is spent."""
    if level + 1 >= len(RESERVES):
        return None
    reserve = room.reserve(level + 1, reply.max_tokens)
    further = ChatReply(reply.messages, reply.max_tokens, reserve)
    if further.ceiling <= reply.ceiling:
        return None
    return further if take_repeat(reply.prompt_tokens + further.ceiling) else None


async def _call_model(call: Call, reply: ChatReply, room: ThoughtRoom, *, is_shown: bool) -> AsyncGenerator[str]:
    refused = False
    with model_call(room.model, room.server, max_tokens=reply.ceiling, streamed=is_shown) as record:
        try:
            async with aclosing(call(reply)) as pieces:
                async for piece in pieces:
                    record.took_piece()
                    yield piece
        except RequestRefusedError:
            refused = True
            raise
        finally:
            record.prompt_tokens, record.output_tokens = reply.prompt_tokens, reply.output_tokens
            # Also a call that failed, or that nobody read to its end, was paid for.
            reply.count(refused=refused)
