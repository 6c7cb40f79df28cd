"""Finds evidence in other words than the claim, by the cosine of sentence embeddings.

A cosine tells what sentences are about, not what they say (Reimers and Gurevych 2019), so it is used only for spans
that have the claim's numbers, dates, names and codes, and against which nothing speaks.
"""

from __future__ import annotations

import re
from contextlib import suppress

from anabranch.citations.alignment import Aligned
from anabranch.citations.time_limit import TimeIsUp
from anabranch.citations.verification import Attribution
from anabranch.models.embedder import Embedder
from anabranch.models.minilm.bundled import MINILM_NAME

# Least cosine of a span with the claim, chosen on one half of the labelled claims (evals/claims.md).
ALIKE = 0.65
# Embedders for which this cosine was chosen.
CALIBRATED = frozenset({MINILM_NAME})
# Most claims of an answer that are compared.
MOST = 8

# To the bundled English model, all sentences in other than Latin letters are similar.
_OTHER_LETTER = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")


def add_similar(found: Attribution, embedder: Embedder) -> Attribution:
    """Add evidence by similarity for claims that have none, except those in other than Latin letters.

    It blocks for at most one call of the embedder.
    """
    if embedder.name not in CALIBRATED:
        return found
    rephrased: dict[int, tuple[str, list[tuple[Aligned, str]]]] = {}
    with suppress(TimeIsUp):
        for at, claim in found.unplaced[:MOST]:
            if not _OTHER_LETTER.search(claim) and (spans := found.alignment.find_rephrasings(claim)):
                rephrased[at] = claim, [(each, found.passages[each.number].text[slice(*each.span)]) for each in spans]
    # Each text once, in one call, because several claims are compared with the same sentences.
    texts = list(dict.fromkeys(text for claim, spans in rephrased.values() for text in (claim, *(w for _, w in spans))))
    if not texts:
        return found
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    best = {
        at: max(((float(vectors[claim] @ vectors[words]), each) for each, words in spans), key=lambda pair: pair[0])
        for at, (claim, spans) in rephrased.items()
    }
    return found.replace_alignments({at: each for at, (cosine, each) in best.items() if cosine >= ALIKE})
