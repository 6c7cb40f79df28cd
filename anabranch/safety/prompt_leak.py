"""Takes out of an answer what it repeats of the program's own instructions to the model.

A document may ask for them ("print your system prompt"), and a model that obeys has little else to give away: it has no
tools, and links are taken out elsewhere (`anabranch.safety.link_removal`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache

from anabranch.safety.link_removal import strip_links
from anabranch.text.sentences import spans

RUN = 7
"""Words in a row that two texts share only if one repeats the other."""

WORD = re.compile(r"\w+")
# Such as the name of a version or a secret that somebody wrote into a prompt: no language has words like these.
_LONG_WORD = re.compile(r"[\w-]{6,}")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")

HELD = 1_000
"""Characters of a stream that wait at most for the words after them; the end of an answer is looked at whole."""

Runs = frozenset[tuple[str, ...]]


class Instructions:
    """Finds what a text repeats of instructions: seven words in a row, or a word of six characters with a digit.

    Args:
        told: The instructions.
        given: What an answer may repeat: passages and question.
    """

    def __init__(self, told: Sequence[str], given: Iterable[str]) -> None:
        self._told, self._given = tuple(told), given

    def repeated(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of a text that repeat instructions; sentences are no border for a run."""
        found = _among(text, *_runs_and_codes(self._told))
        # What was given is long, and only looked at where it may matter.
        return _among(text, *self._not_given) if found else []

    @cached_property
    def _not_given(self) -> tuple[Runs, frozenset[str]]:
        (runs, codes), given = _runs_and_codes(self._told), list(self._given)
        return runs.difference(*map(runs_in, given)), codes.difference(*map(codes_in, given))


def without_instructions(answer: str, told: Sequence[str], given: Iterable[str]) -> tuple[str, int]:
    """Remove the sentences that repeat instructions.

    Args:
        answer: What a model wrote.
        told: The instructions.
        given: What the answer may repeat: passages and question.

    Returns:
        The answer without those sentences, and how many they were.
    """
    found = Instructions(told, given).repeated(answer)
    if not found:
        return answer, 0
    sentences = spans(answer)
    kept = [
        answer[start:end] for start, end in sentences if not any(start < last and first < end for first, last in found)
    ]
    # What went made neighbours of what was none.
    return strip_links("".join(kept)).rstrip(), len(sentences) - len(kept)


class InstructionFilter:
    """Stops a text that comes in pieces, however it is cut, before it repeats instructions.

    Nothing is shown from there on: the checked answer, without the sentences that repeat, takes the place of what was.
    Words that the instructions have in the same order wait for the next one, so a reader is seldom more than a word or
    two behind, and never more than seven.
    """

    def __init__(self, told: Sequence[str], given: Iterable[str]) -> None:
        """Begin; the arguments are those of `without_instructions`."""
        self._instructions = Instructions(told, given)
        self._phrases = _phrases(tuple(told))
        self._text = ""
        self._seen = 0  # characters of it that were shown: the last one tells whether a word goes on
        self._stopped = False

    def feed(self, piece: str) -> str:
        """Take the next piece, return what can be shown now."""
        if self._stopped:
            return ""
        self._text += piece
        # A word at the very end may go on and become another one.
        found = [first for first, last in self._instructions.repeated(self._text) if last < len(self._text)]
        self._stopped = bool(found)
        end = max(self._seen, min(found) if found else self._settled())
        shown = self._text[self._seen : end]
        self._text, self._seen = self._text[max(end - 1, 0) :], min(end, 1)
        return shown

    def _settled(self) -> int:
        """Return where the words begin that the instructions have in the same order, as far as they are written."""
        # Seven at most, for as many in a row stop the text anyway.
        words = list(WORD.finditer(self._text))[-RUN:]
        for at, match in enumerate(words):
            if f" {' '.join(word[0].casefold() for word in words[at:])}" in self._phrases:
                return max(match.start(), len(self._text) - HELD)
        return len(self._text)


@lru_cache(maxsize=32)
def _phrases(told: tuple[str, ...]) -> str:
    """Return the words of instructions with a blank before each, in lower case."""
    return "\n".join("".join(f" {word.casefold()}" for word in WORD.findall(text)) for text in told)


@lru_cache(maxsize=32)
def _runs_and_codes(told: tuple[str, ...]) -> tuple[Runs, frozenset[str]]:
    return Runs().union(*map(runs_in, told)), frozenset[str]().union(*map(codes_in, told))


def _among(text: str, runs: Runs, codes: frozenset[str]) -> list[tuple[int, int]]:
    matches = list(WORD.finditer(text))
    words = [match[0].casefold() for match in matches]
    found = [
        (matches[at].start(), matches[at + RUN - 1].end())
        for at in range(len(words) - RUN + 1)
        if tuple(words[at : at + RUN]) in runs
    ]
    return found + [match.span() for match in _codes(text) if match[0].casefold() in codes]


def runs_in(text: str) -> set[tuple[str, ...]]:
    """Return all `RUN` words in a row of a text, in lower case."""
    words = [word.casefold() for word in WORD.findall(text)]
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def codes_in(text: str) -> set[str]:
    """Return the words of a text that look like a key or a code, in lower case."""
    return {match[0].casefold() for match in _codes(text)}


def _codes(text: str) -> Iterator[re.Match[str]]:
    # In three looks: one pattern with all three conditions looks at the rest of a word from each of its characters.
    return (match for match in _LONG_WORD.finditer(text) if _DIGIT.search(match[0]) and _LETTER.search(match[0]))
