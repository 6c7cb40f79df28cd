"""Finds claims that are put in other words than their passages, by the cosine of sentence embeddings.

A cosine tells what sentences are about and not what they say (Reimers and Gurevych 2019 trained for the former), so it
is asked only of spans that have the claim's numbers, dates, names and codes, and against which nothing speaks.
"""

from __future__ import annotations

import re
from contextlib import suppress

from anabranch.citations.alignment import Aligned
from anabranch.citations.time_limit import TimeIsUp
from anabranch.citations.verification import Attribution
from anabranch.models.embedder import Embedder
from anabranch.models.minilm.bundled import MINILM_NAME

# Cosine from which a span says what the claim says, chosen on one half of the labelled claims (evals/claims.md).
ALIKE = 0.65
# Embedders for which it was chosen: the cosines of others lie elsewhere.
CALIBRATED = frozenset({MINILM_NAME})
# Claims of an answer that are looked at.
MOST = 8

# To the bundled model, which is English, sentences in other letters than Latin ones are all alike.
_OTHER_LETTER = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")


def with_similar(found: Attribution, embedder: Embedder) -> Attribution:
    """Return it with the sentences that are like the claims that have no evidence; blocks for one call of the embedder.

    It is not called where every claim has evidence, nor for claims in other letters than Latin ones.
    """
    if embedder.name not in CALIBRATED:
        return found
    rephrased: dict[int, tuple[str, list[tuple[Aligned, str]]]] = {}
    with suppress(TimeIsUp):
        for at, claim in found.unplaced[:MOST]:
            if not _OTHER_LETTER.search(claim) and (spans := found.alignment.rephrasings(claim)):
                rephrased[at] = claim, [(each, found.passages[each.number].text[slice(*each.span)]) for each in spans]
    # Each text once, all in one call: several claims are compared with the same sentences.
    texts = list(dict.fromkeys(text for claim, spans in rephrased.values() for text in (claim, *(w for _, w in spans))))
    if not texts:
        return found
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    best = {
        at: max(((float(vectors[claim] @ vectors[words]), each) for each, words in spans), key=lambda pair: pair[0])
        for at, (claim, spans) in rephrased.items()
    }
    return found.changed({at: each for at, (cosine, each) in best.items() if cosine >= ALIKE})
