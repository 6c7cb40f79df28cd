"""Holds back, of an answer that is still being written, what it repeats of the instructions to the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

from anabranch.safety.prompt_leak import RUN, WORD, codes_in, runs_in

_ENDS = re.compile(r"[.!?…][\"'”’)\]]*\s+|\n\s*")


class InstructionFilter:
    """`without_instructions` for text that comes in pieces, however it is cut.

    Words that the instructions have in the same order wait for the next one, so a reader is seldom more than a word or
    two behind. What was shown of a sentence before it began to repeat stays; the checked answer is without all of it.
    """

    def __init__(self, told: Sequence[str], given: Iterable[str]) -> None:
        """Begin; the arguments are those of `without_instructions`."""
        self._told, self._codes = _words_of(tuple(told))
        self._given = given
        self._held = ""
        self._read = 0
        self._inside = False  # what was read ends within a word
        self._run: list[tuple[str, int]] = []  # the last words, as far back as the instructions have them, and where
        self._hides = False

    def feed(self, piece: str) -> str:
        """Take the next piece, return what can be shown now."""
        self._held += piece
        return self._advance(final=False)

    def finish(self) -> str:
        """Return what was held back."""
        return self._advance(final=True)

    def _advance(self, *, final: bool) -> str:
        shown = ""
        while match := WORD.search(self._held, self._read):
            unended = match.end() == len(self._held) and not final
            if self._inside and match.start() == self._read:
                self._read = match.end()
            elif unended and self._may_go_on(match[0].casefold()):
                self._inside = False
                return shown + self._settled(match.start())
            else:
                shown += self._take(match)
            self._inside = unended
        self._inside = self._inside and self._read == len(self._held)
        if final:
            self._run.clear()
        return shown + self._settled(len(self._held))

    def _may_go_on(self, beginning: str) -> bool:
        """Tell whether a word that begins so may be one of the instructions."""
        return f" {beginning}" in self._told

    def _take(self, match: re.Match[str]) -> str:
        """Read a word; return what can be shown because of it."""
        ends = [end.end() for end in _ENDS.finditer(self._held, self._read, match.start())]
        self._read = match.end()
        self._run.append((match[0].casefold(), match.start()))
        while self._run and _spelt(self._words) not in self._told:
            del self._run[0]
        repeats = self._repeats()
        if self._hides and not repeats and ends:
            self._hides = False
            self._cut(ends[-1])
        elif repeats and not self._hides:
            self._hides = True
            return self._cut(max(self._run[0][1], 0))
        return ""

    @property
    def _words(self) -> list[str]:
        return [word for word, _ in self._run]

    def _repeats(self) -> bool:
        """Tell whether the last words are the instructions' alone."""
        words = self._words
        if len(words) >= RUN and tuple(words[-RUN:]) not in self._allowed[0]:
            return True
        said = _spelt(words)
        return any(
            said.endswith(spelt) and self._is_here(code, len(spelt.split())) and code not in self._allowed[1]
            for spelt, code in self._codes.items()
        )

    def _is_here(self, code: str, words: int) -> bool:
        """Tell whether the last words are spelt as the code is, with all that stands between them."""
        begin = self._run[-words][1]
        return begin >= 0 and self._held[begin : self._read].casefold() == code

    @cached_property
    def _allowed(self) -> tuple[set[tuple[str, ...]], set[str]]:
        texts = list(self._given)
        return set[tuple[str, ...]]().union(*map(runs_in, texts)), set[str]().union(*map(codes_in, texts))

    def _settled(self, end: int) -> str:
        """Return what neither is hidden nor may turn out to be a repetition."""
        if self._hides:
            # The gap before the next word says whether the sentence is over.
            self._cut(min(self._read, end))
            return ""
        return self._cut(min([end, *(max(begin, 0) for _, begin in self._run[:1])]))

    def _cut(self, end: int) -> str:
        """Take so much from the beginning of what is held."""
        cut, self._held = self._held[:end], self._held[end:]
        self._read = max(self._read - end, 0)
        self._run = [(word, begin - end) for word, begin in self._run]
        return cut


@lru_cache(maxsize=32)
def _words_of(told: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    """Return the words of instructions, and their codes by how they are spelt there."""
    words = "\n".join(_spelt(word.casefold() for word in WORD.findall(text)) for text in told)
    return words, {_spelt(WORD.findall(code)): code for text in told for code in codes_in(text)}


def _spelt(words: Iterable[str]) -> str:
    """Return words with a blank around each, so that one text is found in another by whole words."""
    return f" {' '.join(words)} "
