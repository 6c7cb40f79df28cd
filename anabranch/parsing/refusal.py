"""Tells an answer from a polite way of giving none."""

from __future__ import annotations

import re

_LONGEST = 400
_LOOK_AT = 200
MARKER = re.compile(r"\[\d+\]")
"""A citation in an answer."""

_SOURCES = r"(?:context|passages?|documents?|sources?|texts?|excerpts?|information|material)"
_REFUSAL = re.compile(
    r"\bi(?: do not|(?: don|don)['’]t) (?:know|have (?:enough|sufficient|any|access))"
    r"|\bi(?:['’]m| am) (?:not sure|unable|not able|sorry)"
    r"|\b(?:i|we) (?:can ?not|can['’]t|could not|couldn['’]t|was unable to|am unable to) "
    r"(?:\w+ )?(?:answer|find|determine|say|tell|provide|help)"
    r"|\b(?:can ?not|can['’]t|could not) be (?:answered|determined|found)"
    r"|\bunable to (?:answer|find|determine|provide)"
    r"|\bno (?:relevant |specific |further )?(?:information|mention|passages?|answer)\b"
    r"|\bnothing (?:[\w']+ ){0,6}?(?:helps?|helpful|relevant|useful|answers?|here)\b"
    r"|\b(?:not enough|insufficient|not sufficient) (?:information|context|evidence)"
    rf"|\b{_SOURCES}(?: \w+){{0,3}}? (?:do|does|did)(?: not|n['’]t) (?:\w+ )?"
    r"(?:contain|mention|provide|include|specify|say|state|give|hold|have|discuss|address|answer|cover|tell|help|name)"
    rf"|\bnot (?:\w+ )?(?:mentioned|provided|specified|stated|given|found|included|available|contained|covered) "
    rf"(?:\w+ ){{0,4}}?{_SOURCES}"
    r"|^\W*(?:not (?:found|available|mentioned|specified|stated|provided)|unknown|n/a|none)\W*$",
    re.IGNORECASE,
)
_BUT = re.compile(r"\b(?:however|nevertheless|nonetheless|but|though)\b", re.IGNORECASE)


def is_refusal(text: str) -> bool:
    """Tell whether a short text without citations says only that there is no answer.

    Args:
        text: An answer or a sentence of one. What goes on after "however" counts as an answer.
    """
    if len(text) > _LONGEST or MARKER.search(text):
        return False
    found = _REFUSAL.search(text[:_LOOK_AT])
    if found is None:
        return False
    turn = _BUT.search(text, found.end())
    return turn is None or _REFUSAL.search(text, turn.end()) is not None
