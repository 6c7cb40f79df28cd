"""Makes the results of tools fit into a bound in tokens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from anabranch.models.wordpiece_tokenizer import Tokens

TOKENS = 4_000
"""Most tokens of a result as JSON, by the corpus's tokenizer."""

RESERVED = 400
"""Tokens of these that are kept for what a result has beside its items."""


def count_tokens(tokens: Tokens, items: Sequence[object]) -> list[int]:
    """Return the tokens of each item as JSON."""
    # Indented, as the longest of the ways in which an item reaches a model.
    return tokens.count([json.dumps(each, ensure_ascii=False, indent=2) for each in items]) if items else []


async def fit(items: Sequence[Any], tokens: Tokens, offset: int = 0) -> tuple[list[Any], int]:
    """Return as many items as fit, and the character at which the text of the last one was cut; 0 if none was.

    Args:
        items: Of these, at least one is returned: its text is cut if need be.
        tokens: Counts.
        offset: Character at which the text of the first one begins.
    """
    return await asyncio.to_thread(_fit, items, tokens, offset)


def _fit(items: Sequence[Any], tokens: Tokens, offset: int) -> tuple[list[Any], int]:
    if not items:
        return [], 0
    first = dict(items[0])
    if offset:
        first |= {"text": first["text"][offset:], "is_whole": False}
    rows = [first, *items[1:]]
    room, shown = TOKENS - RESERVED, []
    for item, size in zip(rows, count_tokens(tokens, rows), strict=True):
        if size > room:
            break
        shown.append(item)
        room -= size
    if shown or "text" not in first:
        return shown or [first], 0
    first["is_whole"] = False
    first["text"] = cut(first["text"], lambda text: count_tokens(tokens, [{**first, "text": text}])[0], room)
    return [first], offset + len(first["text"])


def cut(text: str, measure: Callable[[str], int], room: int) -> str:
    """Return the beginning of a text that measures at most `room`."""
    while (size := measure(text)) > room:
        text = text[: len(text) * room // (size + room // 10)]
    return text
