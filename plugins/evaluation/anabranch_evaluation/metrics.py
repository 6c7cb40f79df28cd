"""Effectiveness metrics of ranked documents, by ir-measures.

Thakur et al. 2021 (BEIR, arXiv 2104.08663) and MTEB report what pytrec_eval computes; so does ir-measures (MacAvaney et
al., ECIR 2022), which adds measures that trec_eval lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from anabranch_evaluation.qrels import Qrels

if TYPE_CHECKING:
    from ir_measures import Measure


# All are between 0 and 1, higher is better, and have a cutoff that tells how far a ranking is read.
FAMILIES = ("AP", "nDCG", "P", "R", "RR", "Success")

EXAMPLES = "nDCG@10, RR@10 (or MRR@10), R@20 (or Recall@20), Success@5, P@5, AP@100"

PerQuery = dict[str, float]
"""Score by query."""


def measure_of(name: str) -> Measure:
    """Return the measure of that name.

    Raises:
        ValueError: The name is unknown, or tables do not support the measure.
    """
    from ir_measures import parse_measure

    try:
        measure = parse_measure(name)
    # ir-measures parses the name as a Python expression, which raises these.
    except (ValueError, NameError, AssertionError, SyntaxError) as error:
        raise ValueError(f"there is no metric {name!r}; for example: {EXAMPLES}") from error
    # Without a cutoff the score depends on the length of a ranking, so that runs cannot be compared.
    if measure.NAME not in FAMILIES or cutoff_of(measure) < 1:
        raise ValueError(f"the metric {name!r} cannot be used; for example: {EXAMPLES}")
    return measure


def cutoff_of(measure: Measure) -> int:
    """Return how many documents of a ranking a measure reads; 0 if its cutoff is not a whole number."""
    cutoff = measure.params.get("cutoff")
    return cutoff if isinstance(cutoff, int) else 0


def scores_of(names: Iterable[str], qrels: Qrels, rankings: Mapping[str, Sequence[str]]) -> dict[str, PerQuery]:
    """Score rankings, query by query.

    Args:
        names: Names of the measures.
        qrels: Judgements; each of its queries gets a score.
        rankings: Document ids by query, best first; a query without one scores 0.

    Returns:
        Score by query id, by name of the measure.
    """
    from ir_measures import iter_calc

    # Evaluators order a run by score, and ties by id; negative ranks have no ties.
    run = {query: {key: -float(rank) for rank, key in enumerate(ranked)} for query, ranked in rankings.items()}
    measures = {name: measure_of(name) for name in names}
    # Initialised with 0, because evaluators skip queries that found nothing.
    found: dict[str, PerQuery] = {str(measure): dict.fromkeys(qrels, 0.0) for measure in measures.values()}
    for each in iter_calc(list(dict.fromkeys(measures.values())), qrels, run):
        if each.query_id in qrels:
            found[str(each.measure)][each.query_id] = float(each.value)
    return {name: dict(found[str(measure)]) for name, measure in measures.items()}
