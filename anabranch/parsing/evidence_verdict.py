"""Reads whether a model finds the evidence sufficient, and what is missing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from anabranch.parsing.json_repair import MAX_REPLY, find_object
from anabranch.parsing.reasoning_blocks import drop_thinking
from anabranch.safety.link_removal import strip_links

MAX_MISSING = 300

# Keys that models use for the verdict, whatever the instructions say (`prompts/grade.py`).
_KEYS = ("sufficient", "enough", "answerable", "sufficiency", "is_sufficient", "verdict", "grade", "answer")
_NO = re.compile(
    r"\b(?:insufficient|inadequate|irrelevant|unanswerable)\b"
    r"|\bnot (?:\w+ )?(?:sufficient|enough|answer|contain|adequate)"
    r"|\b(?:do|does|can)(?: not|n['’]t|not)\b|\black(?:s|ing)?\b|\bno (?:\w+ )?(?:information|evidence|mention)",
    re.IGNORECASE,
)
_YES = re.compile(r"\b(?:sufficient|enough|adequate|answerable|contains? (?:the|all|enough))\b", re.IGNORECASE)
_FIRST = re.compile(r"^\W*(?:(?:answer|verdict|sufficient)\W{1,6})?(yes|no|true|false)\b", re.IGNORECASE)
_STATED = re.compile(r"\bsufficient\b[\"'*]*\s*[:=]\s*\W{0,4}(yes|no|true|false)\b", re.IGNORECASE)
_MISSING = re.compile(r"\bmissing\b[\"'*]*\s*(?:information|is|are)?\s*[:=]+\s*(.+)", re.IGNORECASE | re.DOTALL)
# Models fill in every key of the example.
_NOTHING = re.compile(r"\W*(?:none|nothing|n/?a|null|no|empty|-)?\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EvidenceVerdict:
    """What a model says about the evidence.

    Attributes:
        sufficient: Whether it suffices; None if the reply does not say.
        missing: What is missing, in the model's words without links; empty if the evidence suffices.
    """

    sufficient: bool | None
    missing: str = ""


def parse_verdict(reply: str) -> EvidenceVerdict:
    """Read {"sufficient": true, "missing": "..."} or prose that says yes or no.

    Args:
        reply: Anything a model wrote; no more than `MAX_REPLY` characters are read.

    Returns:
        The verdict. Never raises.
    """
    text = drop_thinking(reply[:MAX_REPLY]).strip()
    # Half a string, too: what is missing comes last, and half of it is still useful.
    found = {str(key).casefold(): value for key, value in (find_object(text, cut_off="half") or {}).items()}
    # The key that the instructions name comes first.
    values = [found[key] for key in _KEYS if key in found]
    stated = _truth(values[0]) if values else _in_prose(text)
    if stated is not False:
        return EvidenceVerdict(stated)
    return EvidenceVerdict(False, _missing(found["missing"] if "missing" in found else _find_missing(text)))


def _truth(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return _in_prose(value) if isinstance(value, str) else None


def _in_prose(text: str) -> bool | None:
    if found := _STATED.search(text) or _FIRST.match(text):
        return found[1].casefold() in {"yes", "true"}
    # Before the yes, because "not sufficient" contains it.
    if _NO.search(text):
        return False
    return True if _YES.search(text) else None


def _find_missing(text: str) -> str:
    """Return what prose says is missing: the text after that word, else all but the verdict."""
    found = _MISSING.search(text)
    return found[1] if found else _FIRST.sub("", text).lstrip(" .,:;!—–-\n")


def _missing(value: object) -> str:
    items = value if isinstance(value, list) else [value]
    text = " ".join("; ".join(item for item in items if isinstance(item, str)).split())
    text = re.split(r"[\"'`]?\s*\}", text)[0].strip("\"'`* ")
    return "" if _NOTHING.fullmatch(text) else strip_links(text)[:MAX_MISSING]
