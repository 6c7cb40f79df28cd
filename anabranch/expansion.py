"""Query expansion without a model: pseudo-relevance feedback in the manner of RM3.

The terms that are frequent in the first hits and rare in the corpus are added to the question (Lavrenko and Croft 2001;
Abdul-Jaleel et al., TREC 2004). Surface words are added rather than stems, so that the same text serves the dense arm.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from anabranch.corpus.store import CorpusStore

_WORD = re.compile(r"[^\W_][\w'-]*")


async def expansion_terms(corpus: CorpusStore, question: str, passages: Sequence[str], *, limit: int) -> list[str]:
    """Return up to `limit` words from the passages that say most about them, best first.

    Args:
        corpus: Gives the analysis and the inverse document frequencies.
        question: Its own terms are not repeated.
        passages: Texts of the first hits, best first; a word must occur in at least two of them.
        limit: Number of words at most.
    """
    known = set(await corpus.analyse(question))
    weights: Counter[str] = Counter()
    surface: dict[str, str] = {}
    spread: Counter[str] = Counter()
    for rank, passage in enumerate(passages, start=1):
        words = _WORD.findall(passage)
        stems = [(word, await corpus.analyse(word)) for word in dict.fromkeys(words)]
        counts = Counter(words)
        seen: set[str] = set()
        for word, terms in stems:
            if len(terms) != 1 or terms[0] in known or len(word) < 3:
                continue
            stem = terms[0]
            surface.setdefault(stem, word)
            weights[stem] += counts[word] / (len(words) * rank)  # type: ignore[assignment]  # Counter of floats
            seen.add(stem)
        spread.update(seen)
    shared = [stem for stem in weights if spread[stem] >= 2]
    idf = await corpus.idf([surface[stem] for stem in shared])
    by_stem = {stem: idf.get(stem, 0.0) for stem in shared}
    best = sorted(shared, key=lambda stem: (-weights[stem] * by_stem[stem], stem))
    return [surface[stem] for stem in best[:limit] if by_stem[stem] > 0]
