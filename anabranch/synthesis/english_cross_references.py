"""Tells English sentences that only say where to read on: "Also see the section on filters."."""

from __future__ import annotations

import re

_ELSEWHERE = re.compile(
    r"^\W*(?:(?:also|please|but|and)\W+){0,2}"
    r"(?:for (?:more|further|additional|other|details|information|a)\b[^.;]{0,80}?,?\s+(?:please\s+)?)?"
    r"(?:see|refer to|read|consult|check out|have a look at|take a look at|visit|turn to)\b(?! that\b| how many\b)",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:sections?|chapters?|tables?|figures?|fig|appendi(?:x|ces)|notes?|pages?|pp?\.|parts?|items?|docs|documentation|"
    r"guide|readme|manual|wiki|website|links?|below|above|following|here|https?)\b",
    re.IGNORECASE,
)
_CONTENTS = re.compile(r"^\W*(?:table of contents|contents|index)\b\W*$", re.IGNORECASE)


def refers_elsewhere(text: str) -> bool:
    """Say whether an English sentence begins by sending its reader to another place, and says nothing else."""
    return bool(_CONTENTS.match(text) or (_ELSEWHERE.match(text) and _PLACE.search(text)))
