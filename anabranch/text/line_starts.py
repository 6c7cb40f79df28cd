"""Recognises lines that begin an entry: with a bullet, a number, a time stamp, a label or a prompt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_KINDS = re.compile(
    r"""\s*(?:
      (?P<bullet>(?:[-*•‣◦▪–—·・]|\[[ xX]\])\s)
    | (?P<time>[\[(]?(?:\w{2,4}[ ,])?\s?(?:
        \d{1,4}[-./年]\d{1,2}[-./月]\d{1,4}            # 2024-03-12, 12.03.24, 3/12/2024
      | [^\W\d_]{3,9}\.?\s+\d{1,2}\s+\d{1,2}:\d{2}     # Mar 12 09:06:03
      | \d{1,2}:\d{2}\b | \d{9,}\b ))
    | (?P<number>[(（]?(?:\d{1,3}(?:\.\d{1,3})*[.)）、]\s?(?=\D)|(?:[a-z]|[ivx]{2,5})[.)）]\s))
    | (?P<prompt>(?:\$|>>>|\.\.\.|[\w.@:~/\\-]{2,40}[\#$>%])\s)
    | (?P<label>(?![a-zà-ÿ])[^\W\d_][^\s:：]{0,20}(?:\s[^\s:：]{1,20}){0,3}\s?[:：](?:\s|$|(?=[^\W\d])))
    )""",
    re.VERBOSE,
)


def line_kind(line: str) -> str:
    """Return the kind of a line's start: `bullet`, `time`, `number`, `prompt` or `label`; empty for other lines."""
    found = _KINDS.match(line)
    return (found.lastgroup or "") if found else ""


def entry_kinds(lines: Sequence[str]) -> frozenset[str]:
    """Return the kinds that begin entries in these lines: bullets, and kinds of at least two lines.

    A single one may be chance, such as a date or "as follows:" at the start of a line.
    """
    counts = Counter(map(line_kind, lines))
    return frozenset(kind for kind, count in counts.items() if kind and (count > 1 or kind == "bullet"))
