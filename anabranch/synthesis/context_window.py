"""The room of a call for passages: the model's context less instructions, question and reply."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from anabranch.errors import SettingsError
from anabranch.safety.prompt_envelope import new_nonce, wrap
from anabranch.synthesis.packing import Limit
from anabranch.synthesis.token_bound import bound_tokens

if TYPE_CHECKING:
    from anabranch.models.embedder import Embedder

# Tokens of a chat template and of the text between question, answer so far and passages.
MESSAGES = 40

# A window with less room for passages is not worth a call.
LEAST = 64

# A label of the greatest length, in short pieces, which make the most tokens.
LONGEST_LABEL = "x1 " * 67

# A passage as the model sees it: number, label, text.
Row = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class Room:
    """The room of the calls that write an answer.

    Attributes:
        frame: Tokens of the longest instructions and the question.
        limit: Room for passages in each call; None if the model's context is unknown.
        chain: Whether there is room for an answer so far beside the passages, as refining needs.
    """

    frame: int
    limit: Limit | None
    chain: bool = True


def measure_envelope(embedder: Embedder, label: str = LONGEST_LABEL) -> int:
    """Return the tokens that the envelope puts around one passage, for a label of this length."""
    (size,) = count_tokens(embedder, (wrap([(1000, label, "")], new_nonce()),))
    return size


def count_tokens(embedder: Embedder, texts: Sequence[str]) -> list[int]:
    """Return how many tokens a chat model may count in each text, estimated from the corpus's tokenizer."""
    return [bound_tokens(text, tokens) for text, tokens in zip(texts, embedder.count(texts), strict=True)]


def find_room(
    embedder: Embedder,
    *,
    instructions: Sequence[str],
    question: str,
    labels: Iterable[str],
    context_tokens: int | None,
    answer_tokens: int,
    may_refine: bool,
) -> Room:
    """Return the room; the corpus's tokenizer counts, with a margin for texts that the model counts.

    Args:
        embedder: The embedder of the corpus.
        instructions: The instructions of each kind of call.
        question: The question as the model gets it.
        labels: The labels of passages; the longest one counts.
        context_tokens: The model's context; None if it is unknown or there is no model.
        answer_tokens: Most tokens of a reply.
        may_refine: Whether an answer may be refined, which reserves room for it in every window.

    Raises:
        SettingsError: The instructions, the question and the reply leave no room for passages.
    """
    (asked,) = count_tokens(embedder, (question,))
    frame = max(count_tokens(embedder, instructions)) + asked + MESSAGES
    if context_tokens is None:
        return Room(frame, None)
    once = context_tokens - frame - answer_tokens
    around = measure_envelope(embedder, max(labels, key=len, default=""))
    # Refining needs room for the answer so far beside a window; without it, that route is not taken.
    chain = once - answer_tokens >= LEAST + around
    if once < LEAST + around:
        msg = (
            f"A model context of {context_tokens:,} tokens has no room for passages beside the question, the "
            f"instructions ({frame:,} tokens) and a reply (answer_tokens={answer_tokens:,})."
        )
        raise SettingsError(msg, hint="Lower answer_tokens, ask a shorter question, or raise context_tokens.")
    # Reserve it in every window, for the route is chosen after the windows are known.
    reserved = answer_tokens if chain and may_refine else 0
    return Room(frame, Limit(once - reserved, lambda text, tokens: bound_tokens(text, tokens) + around), chain)


def take_fitting(
    embedder: Embedder,
    rows: Sequence[Row],
    asked: str,
    *,
    context: int | None,
    window: int,
    reply: int = 0,
) -> list[Row]:
    """Return the first passages that one call has room for.

    Args:
        embedder: The embedder of the corpus, whose tokenizer counts.
        rows: The passages as the model sees them.
        asked: The rest of the call.
        context: Tokens of the model's context; None if unknown.
        window: Most tokens of passages in one call.
        reply: Tokens of the reply.
    """
    # Two bounds: the model's context in its tokens, and the window in those of the corpus.
    nonce = new_nonce()
    in_prompt = accumulate(count_tokens(embedder, [wrap([row], nonce) for row in rows]))
    in_window = accumulate(embedder.count([text for *_, text in rows]))
    room = (context or math.inf) - sum(count_tokens(embedder, (asked,))) - MESSAGES - reply
    totals = zip(rows, in_prompt, in_window, strict=True)
    return [row for row, tokens, packed in totals if tokens <= room and packed <= window]
