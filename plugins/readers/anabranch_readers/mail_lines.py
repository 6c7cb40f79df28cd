"""Parts the lines of a message: its own words, what it quotes at length, and signatures.

Sources: RFC 3676 (quoted lines and the line `-- ` above a signature), RFC 9580 (the lines around what PGP has made).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

_MOST_QUOTED = 3
"""Lines of a quotation that stays where it is, as what the words below it reply to."""

_MOST_SIGNED = 20
"""Lines of a signature; below a longer one stands another message, as in a digest or a reply by Outlook."""

_MARKS = re.compile(r"(?:> ?)*")
_SIGNATURE = ("-- ", "- -- ")  # the second in a text that is signed, where dashes are escaped
_SIGNED = "-----BEGIN PGP SIGNED MESSAGE-----"
_ENCRYPTED = "-----BEGIN PGP MESSAGE-----"
_ARMOR, _ARMOR_END = "-----BEGIN PGP ", "-----END PGP "
_ARMOR_HEADER = re.compile(r"[A-Za-z-]+: ")


class MailLines(NamedTuple):
    """The text of one part of a message.

    Attributes:
        own: What it says, with short quotations in their place.
        quoted: Its longer quotations, from the first to the last.
        left_out: How many lines were signatures.
        is_encrypted: Whether a part of it is.
    """

    own: str
    quoted: tuple[str, ...]
    left_out: int
    is_encrypted: bool


def part_lines(text: str) -> MailLines:
    """Part the lines of a text, whose line ends are line feeds."""
    lines = text.split("\n")
    kept = [line for line, is_kept in zip(lines, _Keeper(lines), strict=True) if is_kept]
    own: list[str] = []
    quoted: list[str] = []
    for is_quoted, run in groupby(kept, lambda line: line.startswith(">")):
        block = list(run)
        if is_quoted and len(block) > _MOST_QUOTED:
            quoted.append("\n".join(block))
            own.append("")
        else:
            own += block
    return MailLines("\n".join(own), tuple(quoted), len(lines) - len(kept), _ENCRYPTED in text)


class _Keeper:
    """Tells of each line in turn whether it is kept, at whatever depth it is quoted."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        # What has no end is a text that only mentions such a line.
        self._last_end = max((at for at, line in enumerate(lines) if _ARMOR_END in line), default=-1)
        self._signature = -1
        self._is_armor = self._is_header = False

    def __iter__(self) -> Iterator[bool]:
        for at, line in enumerate(self._lines):
            yield self._is_kept(at, *_part_marks(line))

    def _is_kept(self, at: int, depth: int, words: str) -> bool:
        if self._is_armor:
            self._is_armor = not words.startswith(_ARMOR_END)
            return False
        self._is_header = words == _SIGNED or (self._is_header and _ARMOR_HEADER.match(words) is not None)
        if self._is_header:
            return False
        if words.startswith(_ARMOR) and at < self._last_end:
            self._is_armor = True
            return False
        # A signature ends where a quotation begins or ends: below it may stand the whole mail that is replied to.
        if depth != self._signature:
            self._signature = depth if words in _SIGNATURE and self._is_short(at + 1, depth) else -1
        return self._signature < 0

    def _is_short(self, begin: int, depth: int) -> bool:
        """Tell whether few lines are left of a text at one depth."""
        following = [_part_marks(line) for line in self._lines[begin : begin + _MOST_SIGNED + 1]]
        ends = (each != depth or words.startswith(_ARMOR) for each, words in following)
        return len(following) <= _MOST_SIGNED or any(ends)


def _part_marks(line: str) -> tuple[int, str]:
    """Return how deep a line is quoted, and its words."""
    marks = _MARKS.match(line)
    end = marks.end() if marks else 0
    return line[:end].count(">"), line[end:]
