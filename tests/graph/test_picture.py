"""The graph's edges, so that a change of wiring shows in a diff."""

from __future__ import annotations

from graph.answer import graph

EDGES = [
    "",
    "__start__ -> begin",
    "abstain -> finish",
    "begin ..> condense",
    "begin ..> rewrite",
    "cite ..> abstain",
    "cite ..> finish",
    "condense -> rewrite",
    "create ..> cite",
    "create ..> refine",
    "finish -> __end__",
    "fuse -> rerank",
    "gather ..> cite",
    "gather ..> reduce",
    "grade ..> abstain",
    "grade ..> pack",
    "grade ..> review_sources",
    "grade ..> rewrite",
    "map -> gather",
    "merge -> grade",
    "pack ..> abstain",
    "pack ..> create",
    "pack ..> map",
    "reduce -> gather",
    "refine ..> cite",
    "refine ..> refine",
    "rerank -> merge",
    "retrieve -> fuse",
    "review_queries ..> retrieve",
    "review_sources -> pack",
    "rewrite ..> retrieve",
    "rewrite ..> review_queries",
    "",
][1:-1]


def test_the_wiring_is_what_is_written_here() -> None:
    drawn = graph.get_graph()
    edges = sorted(f"{edge.source} {'..>' if edge.conditional else '->'} {edge.target}" for edge in drawn.edges)
    assert edges == EDGES
