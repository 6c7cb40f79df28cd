"""Ranked lists for property tests: few ids, so that lists overlap, and scores of any kind."""

from __future__ import annotations

from hypothesis import strategies as st

from anabranch.store.protocol import RankedList

IDS = st.sampled_from([f"c{number}" for number in range(8)])
SCORES = st.floats(min_value=-1e6, max_value=1e6)
ANY_SCORES = st.one_of(st.none(), st.floats())
WEIGHTS = st.floats(min_value=0, max_value=100)


def make(ids: list[str], scores: list[float] | None = None) -> RankedList:
    """Give a list of ids made-up descending scores, unless it has its own."""
    return RankedList(ids=ids, scores=[float(-place) for place in range(len(ids))] if scores is None else scores)


@st.composite
def rankings(draw: st.DrawFn, scores: st.SearchStrategy[float] = SCORES, *, unique: bool = True) -> RankedList:
    """One ranked list, best first."""
    ids = draw(st.lists(IDS, max_size=8, unique=unique))
    values = sorted(draw(st.lists(scores, min_size=len(ids), max_size=len(ids))), reverse=True)
    return make(ids, values)


@st.composite
def weighted(draw: st.DrawFn, min_size: int = 0) -> tuple[list[RankedList], list[float]]:
    """Ranked lists and a weight for each."""
    pairs = draw(st.lists(st.tuples(rankings(), WEIGHTS), min_size=min_size, max_size=5))
    return [ranking for ranking, _ in pairs], [weight for _, weight in pairs]
