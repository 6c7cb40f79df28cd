"""Whether a reply holds the answer, and whether it says that there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"(?<=\d),(?=\d{3})")
_NOT_WORD = re.compile(r"[^\w.]+|\.(?!\d)")
_FILLERS = frozenset({"a", "an", "the", "about", "approximately"})

_SOURCE = r"(?:passages?|context|documents?|texts?|information|excerpts?|answer|question)\b"
_SAYS = r"(?:tell|mention|say|state|specif|provid|contain|includ|indicat|give|have|hold|answer|identif|list|relate)"
_ENGLISH_REFUSAL = re.compile(
    rf"\b{_SOURCE}[^.!?]{{0,80}}\b(?:do|does|did|is|are|was|were)(?: not|n['’]t)\b"
    rf"|\b(?:do|does|did)(?: not|n['’]t) (?:explicitly |directly )?{_SAYS}"
    rf"|\b(?:is|are|was|were)(?: not|n['’]t) (?:explicitly |directly )?(?:{_SAYS}|known|found|clear)"
    r"|\bno (?:information|mention|answer|evidence|relevant)\b|\bnone of (?:the|them)\b|\bnot found\b"
    r"|\bcannot (?:be (?:determined|answered)|answer|determine)\b|\b(?:do not|don['’]t) know\b|\bempty response\b",
    re.IGNORECASE,
)


def contains(text: str, spellings: Iterable[str]) -> bool:
    """Say whether a reply holds one of the spellings, word by word; articles and the commas of numbers do not count."""
    said = f" {_normalised(text)} "
    return any(f" {spelling} " in said for each in spellings if (spelling := _normalised(each)))


def is_english_refusal(text: str) -> bool:
    """Say whether an English reply says that the passages do not tell, or says nothing.

    For systems that give their model's words as they are; ours says itself that it abstains.
    """
    return not text.strip() or bool(_ENGLISH_REFUSAL.search(text))


def _normalised(text: str) -> str:
    words = _NOT_WORD.sub(" ", _NUMBER.sub("", text.casefold())).split()
    return " ".join(word for word in words if word not in _FILLERS)
