"""Sorts the lines of a reply in the answer protocol: the answer, its quotes, and what was not found.

It works piece by piece, because the same rules decide what a reader may see while the model still writes. Where a line
belongs is decided on its first characters alone; they are all that has to be held back.
"""

from __future__ import annotations

import re
from typing import Literal

Section = Literal["answer", "quotes", "missing", "echo"]

_HEAD = 48
_QUOTE_HEAD = 400
_DECOR = r"[\s#>*_`-]{0,8}"
_WHICH = r"(?:(?:SUPPORTING|EXACT|VERBATIM)\s+)?"

_NAMES: dict[Section, re.Pattern[str]] = {
    "quotes": re.compile(rf"{_DECOR}{_WHICH}QUOTES?{_DECOR}(?::|$)|(?i:{_DECOR}{_WHICH}quotes{_DECOR}:{_DECOR}$)"),
    "missing": re.compile(
        rf"{_DECOR}NOT[ _-]FOUND\b[\s:.*_–—-]*|(?i:{_DECOR}not[ _]found{_DECOR}(?::[\s*_]*|\.?\s*$))"
    ),
    "answer": re.compile(
        r"\s*(?:[#>]+\s*)?(?:\*\*|__)?(?:(?:final|the)\s+)?answer\s*(?:\*\*|__)?\s*:(?:(?:\*\*|__)(?=\s|$))?\s*",
        re.IGNORECASE,
    ),
    "echo": re.compile(r"\s*(?:[#>]+\s*)?(?:\*\*|__)?question\s*(?:\*\*|__)?\s*:", re.IGNORECASE),
}
# What a line may begin with that is none of these; white space, `-` and `_` between words are one blank here.
_WORDS: dict[bool, tuple[str, ...]] = {
    answering: (
        *("quote", "supporting quote", "exact quote", "verbatim quote", "not found"),
        *(() if answering else ("answer", "final answer", "the answer", "question")),
    )
    for answering in (False, True)
}
_BEFORE_WORDS = " \t\r\f\v#>*_`-•"
_BETWEEN_WORDS = re.compile(r"[\s_-]+")
_AS_I = {0x130: "i", 0x131: "i"}
"""Letters that a pattern takes for an `i` and `casefold` does not."""

_QUOTE_LINE = re.compile(r"\s*(?:[-*•]\s+)?\[\d+(?:\s*,\s*\d+)*\]\s*[:–—-]?\s*[\"“«]")
_QUOTE_END = re.compile(r"[\"”»][\s.]*$")
_INLINE_NAME = "QUOTES:"
_INLINE = re.compile(rf"(?<!\S)\*{{0,2}}{_INLINE_NAME}")
_LAST_WORD = re.compile(r"(?<!\S)\*{0,2}[A-Z]*\Z")


class Sections:
    """Takes a reply in pieces, gives out the pieces of its answer, and keeps every section."""

    def __init__(self) -> None:
        self._parts: dict[Section, list[str]] = {}
        self._section: Section = "answer"
        self._line: Section | None = None  # where the line at hand belongs; None while that is open
        self._held = ""
        self._before = ""
        self._answering = False

    def text(self, section: Section) -> str | None:
        """Return what was found of a section so far, None where it did not begin."""
        return "".join(self._parts[section]) if section in self._parts else None

    def feed(self, piece: str) -> str:
        """Take the next piece; return what of the answer is certain now."""
        self._held += piece
        return self._advance(final=False)

    def finish(self) -> str:
        """Return what is left of the answer."""
        return self._advance(final=True)

    def _advance(self, *, final: bool) -> str:
        shown: list[str] = []
        while self._held and (self._line or self._decide(final=final)):
            end = self._held.find("\n") + 1 or len(self._held)
            if self._line == "answer":
                end = self._answer_end(end, final=final)
                shown.append(self._held[:end])
            if end:
                self._file(end)
            elif not self._turn():
                break
        return "".join(shown)

    def _decide(self, *, final: bool) -> bool:
        """Decide where the line at hand belongs, as soon as enough of it is there."""
        line, newline, _ = self._held.partition("\n")
        quote = self._section != "quotes" and _QUOTE_LINE.match(line[:_HEAD]) is not None
        limit = _QUOTE_HEAD if quote else _HEAD
        if len(line) < limit and not newline and not final and (quote or self._may_be_name(line)):
            return False
        if quote and (len(line) >= limit or _QUOTE_END.search(line)):
            self._line = "quotes"
        else:
            self._open(line[:_HEAD])
            self._line = self._section
        self._before = ""
        return True

    def _may_be_name(self, line: str) -> bool:
        """Tell whether a line may begin with the name of a section, or a quote, however it goes on."""
        text = line.lstrip(_BEFORE_WORDS)
        if not text or text[0] == "[" or text[0].isspace():
            return True
        said = _BETWEEN_WORDS.sub(" ", text.translate(_AS_I).casefold())
        return any(said.startswith(words) or words.startswith(said) for words in _WORDS[self._answering])

    def _open(self, head: str) -> None:
        """Go on to the section whose name the line begins with, past that name."""
        for section, name in _NAMES.items():
            # Once there is an answer, these words are part of it.
            if (found := name.match(head)) and not (self._answering and section in {"answer", "echo"}):
                self._begin(section, found.end())
                return

    def _begin(self, section: Section, end: int) -> None:
        self._section = section
        self._parts.setdefault(section, [])
        self._held = self._held[end:]

    def _answer_end(self, end: int, *, final: bool) -> int:
        """Return where the certain part of an answer's line ends: before its quotes, or what may be their name."""
        before = len(self._before)
        text = self._before + self._held[:end]
        found = _INLINE.search(text, before)
        if not found and not final and not text.endswith("\n"):
            found = _LAST_WORD.search(text, before)
            found = found if found and _INLINE_NAME.startswith(found[0].lstrip("*")) else None
        return found.start() - before if found else end

    def _turn(self) -> bool:
        """Go over to the quotes in the middle of a line; tell whether they are there."""
        found = _INLINE.match(self._held)
        if found:
            self._begin("quotes", found.end())
            self._line = "quotes"
        return found is not None

    def _file(self, end: int) -> None:
        text, self._held = self._held[:end], self._held[end:]
        section = self._line or self._section
        self._parts.setdefault(section, []).append(text)
        self._answering = self._answering or (section == "answer" and not text.isspace())
        self._before = text[-1:]
        if text.endswith("\n"):
            self._line = None
