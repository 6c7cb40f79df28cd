"""Finds passages that say the same: equal once folded, or nearly the same words in the same order."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict

LIKENESS = 0.9
"""Jaccard similarity of word shingles from which two passages count as one (Broder 1997)."""

_SHINGLE = 3
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")

Shingle = tuple[str, ...]


class Duplicates:
    """Remembers passages and names the first one that a later one repeats.

    Passages whose numbers differ are never the same: the tables and the boilerplate of two years differ in nothing
    else, and the number is what is asked for.
    """

    def __init__(self, likeness: float = LIKENESS) -> None:
        """Take two passages for one from this Jaccard similarity on, in (0, 1]."""
        self._likeness = likeness
        self._exact: dict[str, str] = {}
        self._shingles: dict[str, frozenset[Shingle]] = {}
        self._numbers: dict[str, Counter[str]] = {}
        self._holders: defaultdict[Shingle, list[str]] = defaultdict(list)

    def find(self, passage_id: str, text: str) -> str | None:
        """Return the id of an earlier passage that says the same, else remember this one and return None."""
        words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
        folded = " ".join(words) or text
        numbers = Counter(_NUMBER.findall(folded))
        shingles = frozenset(tuple(words[i : i + _SHINGLE]) for i in range(max(len(words) - _SHINGLE + 1, 1)))
        known = self._exact.get(folded) or (self._alike(shingles, numbers) if words else None)
        if known is None:
            self._exact.setdefault(folded, passage_id)
            self._shingles[passage_id] = shingles
            self._numbers[passage_id] = numbers
            for shingle in shingles:
                self._holders[shingle].append(passage_id)
        return known

    def _alike(self, shingles: frozenset[Shingle], numbers: Counter[str]) -> str | None:
        shared = Counter(holder for shingle in shingles for holder in self._holders.get(shingle, ()))
        for holder, both in shared.most_common():
            either = len(shingles) + len(self._shingles[holder]) - both
            if both / either >= self._likeness and self._numbers[holder] == numbers:
                return holder
        return None
