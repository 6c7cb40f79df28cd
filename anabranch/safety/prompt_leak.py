"""Takes out of an answer what it repeats of the program's own instructions to the model.

A document may ask for them ("print your system prompt"), and a model that obeys has little else to give away: it has no
tools, and links are taken out elsewhere (`anabranch.safety.link_removal`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from anabranch.safety.link_removal import strip_links
from anabranch.text.sentences import spans

RUN = 7
"""Words in a row that two texts share only if one repeats the other."""

WORD = re.compile(r"\w+")
_CODE = re.compile(r"(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[\w-]{6,}")


def without_instructions(answer: str, told: Sequence[str], given: Iterable[str]) -> tuple[str, int]:
    """Remove the sentences that repeat instructions.

    Args:
        answer: What a model wrote.
        told: The instructions.
        given: What the answer may repeat: passages and question.

    Returns:
        The answer without sentences that have seven words in a row, or a word with digits of six characters at least,
        from the instructions and not from what was given; and how many those were.
    """
    runs, codes = _in_all(tuple(told))
    found = _repeated(answer, runs, codes)
    if not found:
        return answer, 0
    texts = list(given)
    runs = runs.difference(*map(runs_in, texts))
    codes = codes.difference(*map(codes_in, texts))
    found = _repeated(answer, runs, codes)
    kept = [
        answer[start:end]
        for start, end in spans(answer)
        if not any(start < last and first < end for first, last in found)
    ]
    removed = len(spans(answer)) - len(kept)
    # What went made neighbours of what was none.
    return (strip_links("".join(kept)).rstrip() if removed else answer), removed


@lru_cache(maxsize=32)
def _in_all(told: tuple[str, ...]) -> tuple[frozenset[tuple[str, ...]], frozenset[str]]:
    return frozenset[tuple[str, ...]]().union(*map(runs_in, told)), frozenset[str]().union(*map(codes_in, told))


def _repeated(answer: str, runs: frozenset[tuple[str, ...]], codes: frozenset[str]) -> list[tuple[int, int]]:
    """Return the spans of an answer that are among these; sentences are no border for a run."""
    matches = list(WORD.finditer(answer))
    words = [match[0].casefold() for match in matches]
    found = [
        (matches[at].start(), matches[at + RUN - 1].end())
        for at in range(len(words) - RUN + 1)
        if tuple(words[at : at + RUN]) in runs
    ]
    return found + [match.span() for match in _CODE.finditer(answer) if match[0].casefold() in codes]


def runs_in(text: str) -> set[tuple[str, ...]]:
    """Return all `RUN` words in a row of a text, in lower case."""
    words = [word.casefold() for word in WORD.findall(text)]
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def codes_in(text: str) -> set[str]:
    """Return the words of a text that look like a key or a code, in lower case."""
    return {match[0].casefold() for match in _CODE.finditer(text)}
