"""The words and numbers that models write for a passage and for its relevance."""

from __future__ import annotations

import re

BEST = 10.0

DOC = r"(?:doc(?:ument)?|passage|source|text|id)s?"
SCORE = r"(?:relevance|relevancy|relevant|score|rating)"
_NUMBER = r"(?<![\d.,])-?\d{1,6}(?:[.,]\d{1,6})?(?!\w)"
_RANGE = r"(?:(?:[-–—]|[^\S\n]to[^\S\n])(?P<upto>\d{1,6}(?:[.,]\d{1,6})?)(?!\w))?"
_UNIT = r"(?:\s*(?:/|out[^\S\n]+of)\s*(?P<scale>\d{1,4})(?!\d)|\s*(?P<percent>%|per\s?cent))?"
VALUE = rf"(?P<score>{_NUMBER}){_RANGE}{_UNIT}"

DOC_KEYS = ("doc", "document", "passage", "id", "index", "number", "doc_id", "document_id", "passage_id", "n")
SCORE_KEYS = ("relevance", "score", "rating", "relevance_score", "relevancy")

_WHOLE_VALUE = re.compile(rf"^\s*{VALUE}\s*$")
_INTEGER = re.compile(r"\D{0,12}?(\d{1,6})\D{0,2}")


def value_in(match: re.Match[str]) -> float | None:
    """Return a relevance on the scale to 10 from a match of `VALUE`; the middle of a range."""
    score = float(match["score"].replace(",", "."))
    if match["upto"] and score >= 0:
        score = (score + float(match["upto"].replace(",", "."))) / 2
    if match["percent"]:
        return score * BEST / 100
    if match["scale"]:
        scale = int(match["scale"])
        return score * BEST / scale if scale else None
    return score


def document_of(value: object) -> int | None:
    """Return the number in 2, "2", "Doc 2" or "[2]"; None for a negative one and for what is no number."""
    text = str(value).strip()[:40]
    match = None if isinstance(value, bool | float) or text.startswith("-") else _INTEGER.fullmatch(text)
    return int(match[1]) if match else None


def score_of(value: object) -> float | None:
    """Return the relevance in 7, "7/10", "70 %" or {"relevance": 7}; None where there is none."""
    if isinstance(value, dict):
        value = next((value[key] for key in SCORE_KEYS if key in value), None)
    match = None if isinstance(value, bool) else _WHOLE_VALUE.match(str(value)[:40])
    return value_in(match) if match else None
