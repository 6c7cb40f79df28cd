"""Tells whether two texts say opposite things with opposite words, as rise and fall, or accept and reject."""

from __future__ import annotations

import re
from functools import lru_cache

_PAIRS = (
    (
        r"ris(?:e|es|en|ing)|rose|increas\w*|grow\w*|grew|climb\w*|expand\w*|improv\w*|higher|strengthen\w*|widen\w*",
        r"fall(?:s|en|ing)?|fell|decreas\w*|declin\w*|drop(?:s|ped|ping)?|shr[aiu]nk\w*|reduc\w*|lower(?:ed|s)?|worsen\w*"
        r"|weaken\w*|narrow(?:s|ed|ing)",
    ),
    (r"profit(?:s|able)?|gains?", r"loss(?:es)?|unprofitable"),
    (r"highest|largest|biggest|most|maximum|best|strongest|longest|oldest|fastest",
     r"lowest|smallest|least|minimum|worst|weakest|shortest|youngest|slowest"),
    (r"more than|above|exceed\w*|at least", r"less than|fewer than|below|at most|up to"),
    (r"accept\w*|approv\w*|allow\w*|permit\w*|agreed|passed|legal|supported",
     r"reject\w*|refus\w*|denied|den(?:y|ies)|forbid\w*|forbad\w*|bann?\w*|prohibit\w*|disagreed|illegal|opposed"),
    (r"open(?:s|ed|ing)?", r"clos(?:e|es|ed|ing)"),
    (r"succe(?:ss\w*|ed\w*)", r"fail\w*|unsuccessful\w*"),
    (r"began|begins?|begun|started", r"ended|finished|stopped|ceased"),
    (r"northern|north", r"southern|south"),
    (r"eastern|east", r"western|west"),
    (r"upstream", r"downstream"),
    (r"with", r"without"),
    (r"true|correct|right", r"false|incorrect|wrong"),
    (r"safe\w*|harmless", r"dangerous\w*|unsafe|harmful"),
)  # fmt: skip
_COMPILED = tuple(
    (re.compile(rf"\b(?:{one})\b", re.IGNORECASE), re.compile(rf"\b(?:{other})\b", re.IGNORECASE))
    for one, other in _PAIRS
)


@lru_cache(maxsize=1 << 12)
def _sides(text: str) -> tuple[int, ...]:
    """Return for each pair which of its sides a text has: 1, -1, or 0 for neither and for both."""
    return tuple(bool(one.search(text)) - bool(other.search(text)) for one, other in _COMPILED)


def opposed(claim: str, text: str) -> bool:
    """Tell whether the text has the opposite of a word of the claim, and not the word itself."""
    return any(mine * its < 0 for mine, its in zip(_sides(claim), _sides(text), strict=True))
