"""What the writing steps share: the text of a window for a model and the draft in its reply."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.errors import ModelError
from anabranch.models.usage import note_failure
from anabranch.parsing import AnswerReply, split_answer
from anabranch.parsing.answer_reply import JSON_BEGINNING
from anabranch.readers.document import Chunk
from anabranch.safety.prompt_envelope import new_nonce, wrap
from nodes.settings import Context
from nodes.support.dependencies import chunks_of
from nodes.support.state_records import Degraded, Draft, Excerpt

MARKER = re.compile(r"\[\d+\]")
_TOLD = 80
"""Characters of the instructions that no answer begins with."""


def instructions(context: Context) -> tuple[str, ...]:
    """Return the instructions to a model that writes: none of them belongs into an answer."""
    return (context.create_prompt, context.refine_prompt, context.map_prompt, context.reduce_prompt)


def label(chunk: Chunk) -> str:
    """Return how a passage is introduced to the model: title, heading and page."""
    page = f"p. {chunk.page}" if chunk.page is not None else ""
    return ", ".join(part for part in (chunk.title or chunk.source, chunk.heading, page) if part)


async def window_text(context: Context, state: Mapping[str, Any], excerpts: Sequence[Excerpt]) -> str:
    """Return the numbered passages of one window inside their envelope; empty where all of them are gone."""
    found = await chunks_of(context, state, [excerpt["id"] for excerpt in excerpts])
    rows = [
        (excerpt["number"], label(chunk), piece_of(chunk, excerpt))
        for excerpt in excerpts
        if (chunk := found.get(excerpt["id"])) is not None
    ]
    return wrap(rows, new_nonce()) if rows else ""


def gone(window: int) -> Degraded:
    """Return the record of a window, from 1, of which no passage is left: nobody is asked about nothing."""
    reason = "its passages are gone: their documents were changed or removed since the search"
    return Degraded(step=f"window:{window}", reason=reason)


def piece_of(chunk: Chunk, excerpt: Excerpt) -> str:
    """Return the characters of the chunk that the window shows; spans are positions in the document."""
    return chunk.text[max(excerpt["start"] - chunk.start, 0) : max(excerpt["end"] - chunk.start, 0)]


def draft_of(reply: str, *, window: int, told: Sequence[str] = (), parts: AnswerReply | None = None) -> Draft:
    """Read a reply in the answer protocol (text with [n] markers, then quotes; or NOT FOUND).

    Args:
        reply: What the model wrote.
        window: Windows read so far.
        told: Instructions and question: a model that only repeats them has not answered.
        parts: What was read of the reply, where it is no plain answer.

    Raises:
        ModelError: The reply neither answers nor says that it cannot.
    """
    parts = parts or split_answer(reply)
    if not parts.not_found and (not parts.answer.strip() or _repeats(parts.answer, told)):
        msg = "The model's reply holds no answer."
        raise ModelError(msg, hint="Try again, or another model.")
    if _is_open(reply):
        note_failure("a reply of the model ends in the middle")
    return Draft(
        answer=parts.answer,
        quotes={str(number): list(quotes) for number, quotes in parts.quotes.items()},
        window=window,
        keeps=0,
        found=not parts.not_found and bool(parts.answer.strip()),
        missing=parts.missing,
    )


def _is_open(reply: str) -> bool:
    """Tell whether a reply in JSON has no end; one in text cannot be told from one that is done."""
    return JSON_BEGINNING.match(reply) is not None and not reply.rstrip(" `\n").endswith("}")


def _repeats(answer: str, told: Sequence[str]) -> bool:
    """Tell whether an answer is the question, or begins as the instructions do."""
    said = " ".join(answer.split())
    return any(said.startswith(" ".join(text.split())[:_TOLD]) for text in told if text.strip())


def side_by_side(drafts: Sequence[Draft]) -> Draft:
    """Return the answers one after the other, with the quotes of all."""
    return {**drafts[0], "answer": "\n\n".join(draft["answer"] for draft in drafts), "quotes": quotes_of(drafts)}


def quotes_of(drafts: Sequence[Draft]) -> dict[str, list[str]]:
    """Return the quotes of several answers, by passage number."""
    quotes: dict[str, list[str]] = {}
    for draft in drafts:
        for number, words in draft["quotes"].items():
            quotes.setdefault(number, []).extend(words)
    return quotes
