"""Reads the reply of a model that was asked for an answer in plain text."""

from __future__ import annotations

import re

from anabranch.parsing.reasoning_blocks import drop_thinking
from anabranch.safety.link_removal import strip_links

MAX_REPLY_READ = 100_000
"""Most characters of a reply that are read."""

ENGLISH_LABEL = re.compile(r"\s*(?:\*\*)?(?:final )?answer(?:\*\*)?\s*:(?:\*\*)?\s*", re.IGNORECASE)
"""The label that some models put before an answer, in any language, because their training data does."""

MARKER = re.compile(r"\[\d+\]")
"""A citation in an answer."""


def read_answer(reply: str) -> str:
    """Return the text for the reader, without thoughts and links.

    Args:
        reply: Anything a model wrote; no more than `MAX_REPLY_READ` characters are read.

    Returns:
        The answer, which may be empty. Never raises.
    """
    text = drop_thinking(reply[:MAX_REPLY_READ]).strip()
    label = ENGLISH_LABEL.match(text)
    # After the thoughts are removed, because two halves of a link may then be adjacent.
    return strip_links(text[label.end() :] if label else text).strip()
