"""Where text goes: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from rich.console import Console

from anabranch.text.normalization import INVISIBLE, clean

WIDTH = 100
"""Columns of a table where there is no terminal to ask."""


def results() -> Console:
    """Return the console on standard output."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH
    return Console(highlight=False, markup=False, emoji=False, width=width)


def notes() -> Console:
    """Return the console on standard error."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def say(console: Console, text: str, style: str | None = None) -> None:
    """Print text that a document, a model or a provider may have written.

    A terminal obeys escape sequences, so they go. Where there is no terminal nothing is wrapped: a program reads it.
    """
    console.print(clean(text), style=style, soft_wrap=not console.is_terminal)


def write_json(value: Any) -> None:  # noqa: ANN401  # any JSON value
    """Write one JSON value to standard output: indented for a person, on one line for a program."""
    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json_text(value, indent=indent) + "\n")
    sys.stdout.flush()


def json_text(value: Any, *, indent: int | None = None) -> str:  # noqa: ANN401  # any JSON value
    """Return JSON with its letters as they are, and as escapes what nobody sees or a terminal obeys."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return INVISIBLE.sub(lambda found: json.dumps(found[0])[1:-1], text)
