"""Chains of searches: a later query is made of a value that stands in a passage found before.

The plan is written before anything is found, so that no passage can change it; a passage gives only the value. After
IRCoT (arXiv 2212.10509), with the separation of plan and data of CaMeL (arXiv 2503.18813).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeGuard

from anabranch.types import FOUND, Candidate, Chain, Passage, Query

FOLLOWED = "followed"
"""Kind of a query that holds a value found before."""

MAX_LEAVES = 8
"""Most leaves that a further round adds to those found before: about 1,000 tokens."""


def current_queries(queries: Sequence[Query], chain: Chain | None) -> list[Query]:
    """Return the queries of this round: in a further round of a chain, those made of the last values."""
    if not is_under_way(chain):
        return list(queries)
    hop = count_hops(chain)
    texts = {link["query"] for link in chain["links"] if link["hop"] == hop}
    # An edited thread may have others, which are searched for then.
    return [query for query in queries if query["kind"] == FOLLOWED and query["text"] in texts] or list(queries)


def is_under_way(chain: Chain | None) -> TypeGuard[Chain]:
    """Tell whether a further round has begun whose candidates are not among the others yet."""
    return chain is not None and bool(chain["before"] and chain["links"])


def count_hops(chain: Chain | None) -> int:
    """Return the number of further rounds so far."""
    return chain["links"][-1]["hop"] if chain and chain["links"] else 0


def is_open(chain: Chain | None, most: int) -> bool:
    """Tell whether the plan of a chain has a further round, of at most `most`."""
    return chain is not None and not chain["ended"] and count_hops(chain) < min(most, len(chain["steps"]) - 1)


def list_asked(chain: Chain) -> list[str]:
    """Return the questions of the next step, one for each value that was found last."""
    hop = count_hops(chain)
    values = dict.fromkeys(link["value"] for link in chain["links"] if link["hop"] == hop)
    step = chain["steps"][hop]
    return [step.replace(FOUND, value) for value in values] or [step]


def list_brought(chain: Chain, passages: Iterable[Passage]) -> list[str]:
    """Return the ids of the passages that consist of leaves of the further rounds alone."""
    leaves = set(chain["leaves"])
    return [each["id"] for each in passages if each["leaves"] and leaves.issuperset(each["leaves"])]


def join_rounds(
    before: Sequence[Candidate], found: Sequence[Candidate], most: int = MAX_LEAVES
) -> tuple[list[Candidate], list[str]]:
    """Return all candidates found before with the best new ones among them, and the ids of the new ones.

    Scores of different queries cannot be compared, so a leaf of the later round gets at least the score of the earlier
    one of its rank, and comes after it.
    """
    scores = {candidate["id"]: candidate["score"] for candidate in before}
    by_id = {candidate["id"]: candidate for candidate in (*found[:most], *before)}
    added = [candidate["id"] for candidate in found[:most] if candidate["id"] not in scores]
    for rank, candidate in enumerate(found[:most]):
        equal = before[min(rank, len(before) - 1)]["score"] if before else candidate["score"]
        scores[candidate["id"]] = max(equal, scores.get(candidate["id"], equal))
    # Sorting keeps the order of equal scores: those found before come first.
    ranked = sorted(scores, key=lambda chunk_id: -scores[chunk_id])
    return [{**by_id[chunk_id], "score": scores[chunk_id]} for chunk_id in ranked], added
