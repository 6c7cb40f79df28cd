"""Removes from an answer what it repeats of the program's instructions to the model.

A document may ask for them ("print your system prompt"). A model has little else to give away: it has no tools, and
`anabranch.safety.link_removal` removes links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache

from anabranch.safety.link_removal import strip_links
from anabranch.text.sentences import spans

RUN = 7
"""So many words in a row are the same only if one text repeats the other."""

WORD = re.compile(r"\w+")
# Version names or secrets in a prompt, which are words of no language.
_LONG_WORD = re.compile(r"[\w-]{6,}")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")

HELD = 1_000
"""Most characters of a stream that are held back."""

Runs = frozenset[tuple[str, ...]]


class Instructions:
    """Finds what a text repeats of instructions: seven words in a row, or a word of six characters with a digit.

    Args:
        instructions: What the model was told.
        given: What an answer may repeat: passages and question.
    """

    def __init__(self, instructions: Sequence[str], given: Iterable[str]) -> None:
        self._instructions, self._given = tuple(instructions), given

    def find_repeated(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of a text that repeat instructions, also across sentences."""
        found = _find_repeated(text, *_runs_and_codes(self._instructions))
        # The given texts are long, so they are only searched if needed.
        return _find_repeated(text, *self._not_given) if found else []

    @cached_property
    def _not_given(self) -> tuple[Runs, frozenset[str]]:
        (runs, codes), given = _runs_and_codes(self._instructions), list(self._given)
        return runs.difference(*map(find_runs, given)), codes.difference(*map(find_codes, given))


def without_instructions(answer: str, instructions: Sequence[str], given: Iterable[str]) -> tuple[str, int]:
    """Remove the sentences that repeat instructions.

    Args:
        answer: What a model wrote.
        instructions: What the model was told.
        given: What the answer may repeat: passages and question.

    Returns:
        The answer without those sentences, and their number.
    """
    found = Instructions(instructions, given).find_repeated(answer)
    if not found:
        return answer, 0
    sentences = spans(answer)
    kept = [
        answer[start:end] for start, end in sentences if not any(start < last and first < end for first, last in found)
    ]
    # Again, because new neighbours may make a link.
    return strip_links("".join(kept)).rstrip(), len(sentences) - len(kept)


class InstructionFilter:
    """Stops a text that comes in pieces before it repeats instructions.

    Nothing is shown after that: the checked answer replaces the shown text. Words in the same order as in the
    instructions are held back, so a reader is seldom more than a word or two behind, and never more than seven.
    """

    def __init__(self, instructions: Sequence[str], given: Iterable[str]) -> None:
        """Begin; the arguments are those of `without_instructions`."""
        self._leaks = Instructions(instructions, given)
        self._phrases = _join_phrases(tuple(instructions))
        self._text = ""
        self._seen = 0  # characters of it that were shown: the last one tells whether a word goes on
        self._stopped = False

    def feed(self, piece: str) -> str:
        """Take the next piece; return what can be shown."""
        if self._stopped:
            return ""
        self._text += piece
        # The word at the end may be incomplete.
        found = [first for first, last in self._leaks.find_repeated(self._text) if last < len(self._text)]
        self._stopped = bool(found)
        end = max(self._seen, min(found) if found else self._find_stable_end())
        shown = self._text[self._seen : end]
        self._text, self._seen = self._text[max(end - 1, 0) :], min(end, 1)
        return shown

    def _find_stable_end(self) -> int:
        """Return the start of the last words that the instructions have in the same order."""
        # Seven at most, because as many in a row stop the text.
        words = list(WORD.finditer(self._text))[-RUN:]
        for at, match in enumerate(words):
            if f" {' '.join(word[0].casefold() for word in words[at:])}" in self._phrases:
                return max(match.start(), len(self._text) - HELD)
        return len(self._text)


@lru_cache(maxsize=32)
def _join_phrases(instructions: tuple[str, ...]) -> str:
    """Return the words of instructions with a blank before each, in lower case."""
    return "\n".join("".join(f" {word.casefold()}" for word in WORD.findall(text)) for text in instructions)


@lru_cache(maxsize=32)
def _runs_and_codes(instructions: tuple[str, ...]) -> tuple[Runs, frozenset[str]]:
    return Runs().union(*map(find_runs, instructions)), frozenset[str]().union(*map(find_codes, instructions))


def _find_repeated(text: str, runs: Runs, codes: frozenset[str]) -> list[tuple[int, int]]:
    matches = list(WORD.finditer(text))
    words = [match[0].casefold() for match in matches]
    found = [
        (matches[at].start(), matches[at + RUN - 1].end())
        for at in range(len(words) - RUN + 1)
        if tuple(words[at : at + RUN]) in runs
    ]
    return found + [match.span() for match in _match_codes(text) if match[0].casefold() in codes]


def find_runs(text: str) -> set[tuple[str, ...]]:
    """Return all `RUN` words in a row of a text, in lower case."""
    words = [word.casefold() for word in WORD.findall(text)]
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def find_codes(text: str) -> set[str]:
    """Return the words of a text that look like a key or a code, in lower case."""
    return {match[0].casefold() for match in _match_codes(text)}


def _match_codes(text: str) -> Iterator[re.Match[str]]:
    # Three patterns, because one with all three conditions would take quadratic time.
    return (match for match in _LONG_WORD.finditer(text) if _DIGIT.search(match[0]) and _LETTER.search(match[0]))
