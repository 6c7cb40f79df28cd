"""Metrics of the tokens of evidence that a budget buys.

After Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma technical report, July 2024): with
t_e the tokens of the evidence and t_r those retrieved, recall is |t_e n t_r| / |t_e|, precision |t_e n t_r| / |t_r|,
and IoU |t_e n t_r| / |t_e u t_r|. Here a token counts once however many passages hold it, and what is retrieved ends
with the budget: passages are taken best first, and the one that would overrun is cut where the budget ends. So
passages of any size are compared at the same cost. How much of the budget was used is its fill; whether there was more
than fits, over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import NamedTuple, Protocol

from anabranch_evaluation.metrics import PerQuery

SPAN_EXAMPLES = "TokenR@3000, TokenP@3000, TokenIoU@3000, TokenFill@3000, TokenOver@3000"

_NAME = re.compile(r"(TokenR|TokenP|TokenIoU|TokenFill|TokenOver)@([1-9]\d{0,6})")


class TextSpan(NamedTuple):
    """Characters [start, end) of a document's text, the document by its id."""

    document: str
    start: int
    end: int


class TokenPositions(Protocol):
    """Knows where the tokens of documents are."""

    def between(self, span: TextSpan) -> tuple[int, int]:
        """Return the numbers [first, after) of the tokens that begin within a span."""
        ...


class TokensInBudget(NamedTuple):
    """Tokens within a budget: how many, and how many of them are evidence."""

    tokens: int
    relevant: int


def is_span_metric(name: str) -> bool:
    """Tell whether a metric is one of spans, and not of ranks."""
    return name.startswith("Token")


def span_measure(name: str) -> tuple[str, int]:
    """Return what a metric measures, and its budget in tokens.

    Raises:
        ValueError: There is no such metric.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"there is no metric {name!r} of spans; for example: {SPAN_EXAMPLES}")
    return found[1], int(found[2])


def span_scores(
    names: Iterable[str],
    evidence: Mapping[str, Sequence[TextSpan]],
    found: Mapping[str, Sequence[TextSpan]],
    places: TokenPositions,
) -> dict[str, PerQuery]:
    """Score retrieved passages, query by query.

    Args:
        names: Of the measures.
        evidence: What answers each query; each of them gets a score.
        found: Passages by query, best first; they may overlap. A query without any scores 0.
        places: Of the tokens of all documents.

    Returns:
        Score by query id, by name of the measure.
    """
    measures = {name: span_measure(name) for name in names}
    largest = max((budget for _, budget in measures.values()), default=0)
    scores: dict[str, PerQuery] = {name: {} for name in measures}
    for query, spans in evidence.items():
        wanted = _disjoint(spans, places)
        taken = _disjoint(found.get(query, ()), places, largest)
        total = sum(end - start for _, start, end in wanted)
        found_tokens = sum(end - start for _, start, end in taken)
        for name, (what, budget) in measures.items():
            if what == "TokenOver":
                scores[name][query] = float(found_tokens > budget)
            else:
                scores[name][query] = _score(what, spent(taken, wanted, budget), total, budget)
    return scores


def spent(taken: Sequence[TextSpan], wanted: Sequence[TextSpan], budget: int) -> TokensInBudget:
    """Count what the first `budget` tokens of `taken` hold; both are disjoint runs of token numbers."""
    tokens = relevant = 0
    for document, start, end in taken:
        # A passage that overran the budget whole would pay for size: the larger the passages, the more they bring.
        cut = min(end, start + budget - tokens)
        tokens += cut - start
        relevant += sum(_overlap(start, cut, one.start, one.end) for one in wanted if one.document == document)
        if tokens == budget:
            break
    return TokensInBudget(tokens, relevant)


def _score(what: str, counted: TokensInBudget, total: int, budget: int) -> float:
    if what == "TokenFill":
        return counted.tokens / budget
    union = counted.tokens + total - counted.relevant
    below = {"TokenR": total, "TokenP": counted.tokens, "TokenIoU": union}[what]
    return counted.relevant / below if below else 0.0


def _disjoint(spans: Iterable[TextSpan], places: TokenPositions, budget: float = inf) -> list[TextSpan]:
    """Turn spans of characters into runs of tokens, in their order, without the tokens of those before.

    What comes after more tokens than the budget is left out: a ranking may be long, and each span is compared with
    all before it.
    """
    runs: list[TextSpan] = []
    tokens = 0
    for span in spans:
        if tokens > budget:
            break
        left = [places.between(span)]
        for known in runs:
            if known.document == span.document:
                left = [piece for start, end in left for piece in _without(start, end, known)]
        runs += [TextSpan(span.document, start, end) for start, end in left if start < end]
        tokens += sum(end - start for start, end in left)
    return runs


def _without(start: int, end: int, known: TextSpan) -> list[tuple[int, int]]:
    if known.end <= start or end <= known.start:
        return [(start, end)]
    return [(start, min(end, known.start)), (max(start, known.end), end)]


def _overlap(start: int, end: int, other: int, after: int) -> int:
    return max(0, min(end, after) - max(start, other))
