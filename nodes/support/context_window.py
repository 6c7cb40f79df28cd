"""What a call has room for: the model's context, less instructions, question and reply."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from anabranch.agent.nodes.settings import Context
from anabranch.agent.prompts import CITE, GUARD
from anabranch.errors import SettingsError
from anabranch.models.chat import Chat
from anabranch.models.embedder import Embedder
from anabranch.safety.prompt_envelope import new_nonce, wrap
from anabranch.store.protocol import CorpusReader
from anabranch.synthesis.packing import Limit
from anabranch.synthesis.token_bound import at_most

# Tokens of a chat template and of the words between question, answer so far and passages.
MESSAGES = 40

# Room for passages below which a window says too little to be worth a call.
LEAST = 64

# As long as the envelope lets a label be, in short pieces, which make the most tokens.
LONGEST_LABEL = "x1 " * 67

# A passage as it is shown: number, label, text.
Row = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class Room:
    """What the calls that write an answer have room for.

    Attributes:
        frame: Tokens of the longest instructions and the question.
        limit: Room for passages in each call; None where nothing is known of the model's context.
        chain: Whether there is room for an answer so far beside the passages, as refining needs.
    """

    frame: int
    limit: Limit | None
    chain: bool = True


def envelope(corpus: CorpusReader, label: str = LONGEST_LABEL) -> int:
    """Return the tokens that the envelope puts around one passage, for a label of this length."""
    (size,) = sizes(corpus.embedder, (wrap([(1000, label, "")], new_nonce()),))
    return size


def sizes(embedder: Embedder, texts: Sequence[str]) -> list[int]:
    """Return how many tokens a chat model may count in each text; the corpus's tokenizer counts them."""
    return [at_most(text, tokens) for text, tokens in zip(texts, embedder.count(texts), strict=True)]


def room_of(context: Context, corpus: CorpusReader, chat: Chat | None, question: str, labels: Iterable[str]) -> Room:
    """Return the room; texts are counted by the corpus's tokenizer, and those the model counts get a margin.

    Raises:
        SettingsError: The instructions, the question and the reply leave no room for passages.
    """
    prompts = (
        f"{GUARD} {context.create_prompt} {CITE}",
        f"{GUARD} {context.refine_prompt}",
        context.reduce_prompt,
    )
    (asked,) = sizes(corpus.embedder, (question,))
    frame = max(sizes(corpus.embedder, prompts)) + asked + MESSAGES
    whole = context.context_tokens or (chat.context_tokens if chat is not None else None)
    if whole is None or chat is None:
        return Room(frame, None)
    once = whole - frame - context.answer_tokens
    around = envelope(corpus, max(labels, key=len, default=""))
    # To refine, a call holds the answer so far beside a window; without room for both, that route is not taken.
    chain = once - context.answer_tokens >= LEAST + around
    if once < LEAST + around:
        msg = (
            f"A model context of {whole:,} tokens has no room for passages beside the question, the instructions "
            f"({frame:,} tokens) and a reply (answer_tokens={context.answer_tokens:,})."
        )
        raise SettingsError(msg, hint="Lower answer_tokens, ask a shorter question, or raise context_tokens.")
    # Kept free in every window, for the route is chosen only when the windows are known.
    reserved = context.answer_tokens if chain and context.synthesis in ("auto", "refine") else 0
    return Room(frame, Limit(once - reserved, lambda text, tokens: at_most(text, tokens) + around), chain)


def fitting(
    context: Context,
    embedder: Embedder,
    chat: Chat,
    rows: Sequence[Row],
    asked: str,
    *,
    reply: int = 0,
) -> list[Row]:
    """Return the first passages that one call has room for, beside what is `asked` and the tokens of the reply.

    A window of them, fewer where the model's context is less.
    """
    whole = context.context_tokens or chat.context_tokens or math.inf
    # Two bounds: what the model has room for, in its tokens, and what one call may show, in those of the corpus.
    nonce = new_nonce()
    in_prompt = accumulate(sizes(embedder, [wrap([row], nonce) for row in rows]))
    in_window = accumulate(embedder.count([text for *_, text in rows]))
    room = whole - sum(sizes(embedder, (asked,))) - MESSAGES - reply
    totals = zip(rows, in_prompt, in_window, strict=True)
    return [row for row, tokens, packed in totals if tokens <= room and packed <= context.window_tokens]
