"""Prompts for a writing model, and how its replies are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from anabranch.errors import ModelError
from anabranch.parsing import read_answer
from anabranch.parsing.answer_reply import MARKER
from anabranch.safety.prompt_envelope import OPENING
from anabranch.safety.prompt_template import filled, is_template
from anabranch.types import Chunk, Draft

if TYPE_CHECKING:
    from anabranch.models.chat import Chat

# No answer begins with this many characters of the instructions.
_BEGINNING = 80
_WORDS = re.compile(r"\w+")


def fill_prompt(passages: str, question: str, ask: str, *between: str, existing: str = "") -> str:
    """Return a user message with the passages first, so that a server can reuse them from its prompt cache.

    Args:
        passages: The passages in their envelope.
        question: The question to answer.
        ask: The instruction; placeholders in a user's template say where the other parts go.
        *between: Further parts, which stand before `ask`.
        existing: The answer so far.
    """
    if is_template(ask):
        return filled(ask, context_str=passages, query_str=question, existing_answer=existing)
    so_far = [f"Answer so far: {existing}"] if existing else []
    return "\n\n".join([passages, f"Question: {question}", *so_far, *between, ask])


def label(chunk: Chunk) -> str:
    """Return the label of a passage for the model: title, heading and page."""
    page = f"p. {chunk.page}" if chunk.page is not None else ""
    return ", ".join(part for part in (chunk.title or chunk.source, chunk.heading, page) if part)


def read_draft(
    reply: str, *, window: int, instructions: Sequence[str] = (), question: str = "", chat: Chat | None = None
) -> Draft:
    """Read a reply.

    Args:
        reply: What the model wrote.
        window: Windows read so far.
        instructions: A reply that begins with them, or repeats the prompt, is no answer.
        question: A reply that only repeats it is no answer; "X opened on which date?" may well be answered by
            "X opened on 4 May."
        chat: The model; if it writes only markers, it is not asked for them again.

    Raises:
        ModelError: The reply holds no answer.
    """
    # Markers alone are no answer, though they are not empty.
    answer = read_answer(reply)
    words = MARKER.sub("", answer).strip(" ,;.\n")
    if answer and not words and chat is not None:
        chat.learned.marks_alone = True
    if (
        not words
        or _repeats(answer, instructions)
        or _asks(words, question, instructions)
        or reply.lstrip().startswith(OPENING)
    ):
        msg = "The model's reply holds no answer."
        raise ModelError(msg, hint="Try again, or another model.")
    return Draft(answer=answer, window=window, keeps=0)


def _repeats(answer: str, instructions: Sequence[str]) -> bool:
    """Tell whether an answer begins as the instructions do."""
    text = " ".join(answer.split())
    return any(text.startswith(" ".join(each.split())[:_BEGINNING]) for each in instructions if each.strip())


def _asks(words: str, question: str, instructions: Sequence[str]) -> bool:
    """Tell whether an answer only repeats the question, and what follows it in the prompt."""
    text, asked, *parts = (" ".join(_WORDS.findall(each)).casefold() for each in (words, question, *instructions))
    # The prompt has this form of the question, and a model may copy the whole line.
    text = text.removeprefix("question ")
    # A copy may be cut off; a short one is an answer: "Delhi" to "Delhi or Mumbai, which is larger?"
    if asked and len(text) >= _BEGINNING and asked.startswith(text):
        return True
    if not asked or not f"{text} ".startswith(f"{asked} "):
        return False
    rest = text[len(asked) :].strip()
    return not rest or any(
        f"{part} ".startswith(f"{rest} ") or rest.startswith(part[:_BEGINNING]) for part in parts if part
    )


MOST_JOINED = 200_000
"""Most characters of answers that stand one after the other: half of what a state holds."""

BEYOND = "the last {:,} partial answers are left out: together they are too long"


def join_drafts(drafts: Sequence[Draft]) -> tuple[Draft, int]:
    """Return the answers one after the other, and how many of the last ones had no room."""
    ends = accumulate(len(draft["answer"]) + 2 for draft in drafts)
    kept = max(sum(end <= MOST_JOINED for end in ends), 1)
    return {**drafts[0], "answer": "\n\n".join(draft["answer"] for draft in drafts[:kept])}, len(drafts) - kept
