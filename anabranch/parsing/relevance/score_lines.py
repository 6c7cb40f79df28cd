"""Judgements in lines of text, with labels ("Doc: 2, Relevance: 7") and without ("2. 7")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anabranch.parsing.relevance.score_words import DOC, SCORE, VALUE, value_in

_MARKUP = re.compile(r"[*_`|]+")

# A number on the next line is a score only if it stands there alone: it may be the number of the next item of a list.
_BEFORE_SCORE = r"(?:[^\S\n]|[:=(\[\"'])*(?:\n\s*(?=-?\d[\d.,/%]*[^\S\n]*(?:\n|\Z)))?"

_LABELLED = re.compile(
    rf"\b{DOC}\b[\s.:=#\[(]*(?:(?:no|number|id)\b[\s.:=#]*)?(?P<doc>-?\d{{1,6}})(?!\d)"
    rf"(?P<between>(?:(?!\b{DOC}\b[\s.:=#\[(]*-?\d|\b{SCORE}\b\s*(?:score)?\s*[:=]).){{0,300}}?)"
    rf"\b{SCORE}\b[^\S\n]*(?:score|is|of)?{_BEFORE_SCORE}{VALUE}",
    re.IGNORECASE | re.DOTALL,
)
_BARE = re.compile(
    rf"^\W*(?:{DOC}\b[\s.:=#]*)?(?P<doc>-?\d{{1,6}})(?!\d)\s*[\])]?[\s:,;=>(\[.–—-]*?[\s:,;=>(\[]"
    rf"(?:(?:(?!\b{DOC}\b[\s.:=#\[(]*-?\d)[^\n])*?\b{SCORE}\b[\s:=(]*)?{VALUE}\s*[)\]]?[\s.,;]*$",
    re.IGNORECASE,
)

_CHAIN = re.compile(r"\d\s*\]?\s*>\s*\[?\s*\d")
"""A piece of a ranking without scores: "[2] > [1]"."""


def from_lines(text: str) -> Iterator[tuple[int, float | None]]:
    """Yield (number of the passage, relevance): the labelled judgements first, then the bare ones."""
    plain = _MARKUP.sub(" ", text)
    for match in _LABELLED.finditer(plain):
        yield int(match["doc"]), value_in(match)
    for line in plain.splitlines():
        if not _CHAIN.search(line[:200]) and (bare := _BARE.match(line[:200])):
            yield int(bare["doc"]), value_in(bare)
