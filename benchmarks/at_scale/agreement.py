"""Whether BM25 gives the scores of `rank_bm25.BM25Okapi` with epsilon 0, over the same terms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rank_bm25 import BM25Okapi

from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from anabranch.text.analyzer import analyser
from benchmarks.at_scale.material import Material


async def compared(folder: Path, material: Material, searches: int, k: int) -> dict[str, float]:
    """Return how many scores were compared, the best `k` of each question, and their largest difference."""
    store, words = await open_corpus(folder), analyser()
    okapi = BM25Okapi([words.terms(passage["text"]) for passage in material.passages()], epsilon=0)
    worst, compared_scores = 0.0, 0
    for question in material.questions[:searches]:
        found = (await store.search("bm25", [question], k, Scope()))[0]["scores"]
        expected = np.sort(okapi.get_scores(words.terms(question)))[::-1][: len(found)]
        compared_scores += len(found)
        worst = max(worst, float(np.max(np.abs(expected - found), initial=0.0)))
    return {"scores": compared_scores, "difference": worst}
