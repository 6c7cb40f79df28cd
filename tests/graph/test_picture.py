"""The graph's edges, so that a change of wiring shows in a diff."""

from __future__ import annotations

from anabranch.agent.graph.answer import graph

EDGES = [
    "__start__ ..> begin",
    "abstain -> finish",
    "begin ..> finish",
    "begin ..> retrieval:__start__",
    "cite ..> abstain",
    "cite ..> create",
    "cite ..> finish",
    "create ..> cite",
    "create ..> refine",
    "finish -> __end__",
    "gather ..> cite",
    "gather ..> reduce",
    "installed -> cite",
    "map -> gather",
    "pack ..> abstain",
    "pack ..> create",
    "pack ..> installed",
    "pack ..> map",
    "reduce -> gather",
    "refine ..> cite",
    "refine ..> refine",
    "retrieval:__end__ ..> abstain",
    "retrieval:__end__ ..> pack",
    "retrieval:__end__ ..> review_sources",
    "retrieval:__end__ ..> survey",
    "retrieval:__start__ ..> retrieval:condense",
    "retrieval:__start__ ..> retrieval:rewrite",
    "retrieval:condense -> retrieval:rewrite",
    "retrieval:follow ..> retrieval:__end__",
    "retrieval:follow ..> retrieval:retrieve",
    "retrieval:follow ..> retrieval:rewrite",
    "retrieval:fuse -> retrieval:rerank",
    "retrieval:grade ..> retrieval:__end__",
    "retrieval:grade ..> retrieval:follow",
    "retrieval:grade ..> retrieval:rewrite",
    "retrieval:grade ..> retrieval:widen",
    "retrieval:merge -> retrieval:grade",
    "retrieval:rerank -> retrieval:merge",
    "retrieval:retrieve -> retrieval:fuse",
    "retrieval:review_queries ..> retrieval:retrieve",
    "retrieval:rewrite ..> retrieval:retrieve",
    "retrieval:rewrite ..> retrieval:review_queries",
    "retrieval:widen ..> retrieval:retrieve",
    "review_sources -> pack",
    "survey ..> abstain",
    "survey ..> pack",
    "survey ..> review_sources",
]


def test_the_wiring_is_what_is_written_here() -> None:
    drawn = graph.get_graph(xray=1)
    edges = sorted(f"{edge.source} {'..>' if edge.conditional else '->'} {edge.target}" for edge in drawn.edges)
    assert edges == EDGES
