"""Finds lines of commands in the text of a document, because readers drop the fences of code."""

from __future__ import annotations

import re
from collections.abc import Iterator

SAID = re.compile(r"[.!;:|…。！](?:[\"'”’)\]*_]|\s|\[\d+\])*$")
"""The end of a sentence, with its closing marks."""

# Beginnings of lines of a shell or a program; prose begins with a capital in most languages.
_COMMAND = re.compile(r"\s*(?:[$>#%./-]|[a-z][\w.+-]*(?:[ \t(=]|$))")
# Signs of a shell that other lower-case lines lack: an option, a path, a variable, a lone stop.
_SHELL = re.compile(r"(?:^|\s)(?:--?[A-Za-z]|[$~]|\.{0,2}/|\.(?=\s|$))|\w[=_]\w", re.MULTILINE)
_STOP_ALONE = re.compile(r"\s\.\s*$")
_PARAGRAPH = re.compile(r"(?:^[^\S\n]*+\S[^\n]*\n?)+", re.MULTILINE)


def command_spans(passage: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of commands in [start, end) of a passage: paragraphs of several lines, with those that follow."""
    first = last = 0
    for found in _PARAGRAPH.finditer(passage, start, end):
        goes_on = last > 0 and is_code(found[0])
        if last and not goes_on:
            yield first, last
            last = 0
        if goes_on or (found[0].strip().count("\n") and is_shell(found[0])):
            first, last = first if goes_on else found.start(), found.end()
    if last:
        yield first, last


def is_code(text: str) -> bool:
    """Tell whether lines may be commands; the stop of "pip install ." ends no sentence."""
    is_said = SAID.search(text) and not _STOP_ALONE.search(text)
    return not is_said and all(map(_COMMAND.match, text.strip().splitlines()))


def is_shell(text: str) -> bool:
    """Tell whether lines are commands of a shell by what they hold."""
    return is_code(text) and bool(_SHELL.search(text))
