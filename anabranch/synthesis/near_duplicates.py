"""Finds near-duplicate passages: equal after folding, or with nearly the same words in the same order."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from operator import itemgetter

# Jaccard similarity of word shingles from which two passages count as one (Broder 1997).
LIKENESS = 0.9
# Words of a shingle; with single ones, two passages of the same words in another order would be one.
_SHINGLE = 3
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")

# Rounding error allowed below a whole number.
_DUST = 1e-9
Shingle = tuple[str, ...]
# The numbers in a passage, and how often each occurs.
NumberCounts = frozenset[tuple[str, int]]


class Duplicates:
    """Remembers passages and finds the one that a later one repeats: the most similar, then the earliest.

    Passages with different numbers are never duplicates: tables and boilerplate of two years differ only in numbers,
    which a question may ask for.
    """

    def __init__(self, likeness: float = LIKENESS) -> None:
        """Treat two passages as duplicates from this Jaccard similarity on, in (0, 1]."""
        self._likeness = likeness
        self._exact: dict[str, str] = {}
        self._known: list[tuple[str, frozenset[Shingle]]] = []
        self._holders: defaultdict[tuple[NumberCounts, Shingle], list[int]] = defaultdict(list)

    def find(self, passage_id: str, text: str) -> str | None:
        """Return the id of an earlier passage that says the same, else remember this one and return None."""
        words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
        folded = " ".join(words) or text
        ends = [words[start:] for start in range(_SHINGLE)]
        shingles = frozenset(zip(*ends, strict=False)) if len(words) >= _SHINGLE else frozenset([tuple(words)])
        # Numbers are part of the key, so that passages with different numbers never match.
        numbers = frozenset(Counter(_NUMBER.findall(folded)).items())
        keys = [(numbers, shingle) for shingle in self._prefix(shingles)]
        original = self._exact.get(folded) or (self._alike(shingles, keys) if words else None)
        if original is None:
            self._exact.setdefault(folded, passage_id)
            for key in keys:
                self._holders[key].append(len(self._known))
            self._known.append((passage_id, shingles))
        return original

    def _alike(self, shingles: frozenset[Shingle], keys: list[tuple[NumberCounts, Shingle]]) -> str | None:
        """Return the id of the most similar passage, the earliest of several."""
        met = sorted({place for key in keys for place in self._holders.get(key, ())})
        alike = ((_jaccard(shingles, known), passage_id) for passage_id, known in map(self._known.__getitem__, met))
        likeness, passage_id = max(alike, key=itemgetter(0), default=(0.0, ""))
        return passage_id if likeness >= self._likeness else None

    def _prefix(self, shingles: frozenset[Shingle]) -> list[Shingle]:
        """Return shingles of which two passages that are alike have one in common (Chaudhuri et al. 2006).

        These are the first in any order common to all passages: one more than the number of shingles that one may have
        and the other lack.
        """
        lacking = math.floor((1 - self._likeness) * len(shingles) + _DUST)
        return sorted(shingles, key=lambda shingle: (hash(shingle), shingle))[: lacking + 1]


def _jaccard(one: frozenset[Shingle], other: frozenset[Shingle]) -> float:
    both = len(one & other)
    return both / (len(one) + len(other) - both)
