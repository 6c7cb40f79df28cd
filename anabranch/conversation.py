"""Follow-up questions: what a conversation adds to the last question.

With a chat model the question is condensed from a short transcript; without one, a question that leans on what came
before (a pronoun, or hardly a word of its own) is put together with the question before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.links import strip_links

MAX_TURNS = 6
MAX_ANSWER_CHARS = 600

_LEANING = re.compile(
    r"\b(it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|then|ones?|same|former|"
    r"latter|others?|another|else|too|also|both|either)\b|^\s*(and|but|or|so|what about|how about|why)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_PREFIX = re.compile(r"^(standalone |rewritten |last )?question\s*:\s*", re.IGNORECASE)
_WRAPPING = " \t\"'`*"


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and the answer that was given."""

    question: str
    answer: str


def transcript(turns: Sequence[Turn], question: str) -> str:
    """Write the last turns for a model, answers shortened, newest last.

    Answers may hold words from documents; they are cut short and lose their links, and the model that reads them has no
    tools.
    """
    lines = ["Conversation:"]
    for turn in turns[-MAX_TURNS:]:
        lines += [f"User: {_short(turn.question)}", f"Assistant: {_short(turn.answer)}"]
    return "\n".join([*lines, "", f"Last question: {question}"])


def _short(text: str) -> str:
    flat = " ".join(strip_links(text).split())
    return flat if len(flat) <= MAX_ANSWER_CHARS else flat[:MAX_ANSWER_CHARS].rsplit(" ", 1)[0] + " ..."


def condense_reply(reply: str, question: str) -> str:
    """Return the rewritten question, or the question itself where the reply cannot be one.

    A reply is refused when it is empty, has several lines after trimming, or is far longer than a question.
    """
    lines = [line.strip() for line in reply.strip().splitlines() if line.strip()]
    if len(lines) != 1:
        return question
    text = _PREFIX.sub("", lines[0].strip(_WRAPPING)).strip(_WRAPPING)
    return text if text and len(text) <= 300 + 3 * len(question) else question


def leans(question: str) -> bool:
    """Say whether a question seems to need the one before it."""
    return bool(_LEANING.search(question)) or len(_WORD.findall(question)) <= 3


def follow_up(question: str, turns: Sequence[Turn]) -> str:
    """Return the question made to stand alone without a model: the previous question in front of it where it leans."""
    if not turns or not leans(question):
        return question
    return f"{turns[-1].question.strip()} {question.strip()}"
