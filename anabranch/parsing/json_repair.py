"""Finds the JSON in a model's reply, despite fences, prose, single quotes or a missing end."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, Literal

from pydantic_core import from_json

MAX_REPLY = 100_000
"""Most characters of a reply that parsers read."""

CutOff = Literal["refuse", "complete", "half"]
"""What to do with a value that has no end: refuse it, take its complete parts, or also half a string."""

# Limited, because each bracket may be followed in vain to the end of a long text.
_MAX_STARTS = 20
_LONGEST_LITERAL = 20_000
_OBJECT = re.compile(r"\{")
_OBJECT_OR_LIST = re.compile(r"[\[{]")
_OPENING = {"{": "}", "[": "]"}
_STRAY_ESCAPE = re.compile(r"\\(?![\\'\"abfnrtvxuUN0-7\n])")
_CONTROL = re.compile(r"[\x00-\x1f]")


def find_object(reply: str, *, cut_off: CutOff = "complete") -> dict[str, Any] | None:
    """Return the first JSON object that is not empty, see `find_json`."""
    value = _find(reply[:MAX_REPLY], _OBJECT, cut_off)
    return value if isinstance(value, dict) else None


def find_json(reply: str, *, cut_off: CutOff = "complete") -> dict[str, Any] | list[Any] | None:
    """Return the first JSON object or list in a reply that is not empty, the outer one where they nest.

    Args:
        reply: Anything a model wrote; no more than `MAX_REPLY` characters are read.
        cut_off: What to do with a value that has no end.

    Returns:
        The value; None if there is none. Never raises.
    """
    return _find(reply[:MAX_REPLY], _OBJECT_OR_LIST, cut_off)


def _find(text: str, opening: re.Pattern[str], cut_off: CutOff) -> dict[str, Any] | list[Any] | None:
    starts = [match.start() for match, _ in zip(opening.finditer(text), range(_MAX_STARTS), strict=False)]
    for start in starts:
        for value in _readings(text, start):
            if isinstance(value, dict | list) and value:
                return value
    return _partial(text[starts[0] :], cut_off) if starts else None


def _readings(text: str, start: int) -> Iterator[object]:
    """Yield the complete value at `start`: as JSON, then as the Python literal that some models write."""
    try:
        # Not strict: models write line breaks inside strings.
        yield json.JSONDecoder(strict=False).raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        end = text.rfind(_OPENING[text[start]], start, start + _LONGEST_LITERAL)
        if end > start:
            yield _literal(text[start : end + 1])


def _literal(text: str) -> object:
    try:
        # A stray backslash would make the compiler print a warning.
        return ast.literal_eval(_STRAY_ESCAPE.sub(r"\\\\", text))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _partial(text: str, cut_off: CutOff) -> dict[str, Any] | list[Any] | None:
    """Read a value that has no end, but none that is broken in the middle."""
    plain = _CONTROL.sub(" ", text)
    try:
        from_json(plain)
    except ValueError as error:
        # Only the messages about a missing end begin with "EOF".
        if cut_off == "refuse" or not str(error).startswith("EOF"):
            return None
    try:
        value = from_json(plain, allow_partial="trailing-strings" if cut_off == "half" else True)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) and value else None
