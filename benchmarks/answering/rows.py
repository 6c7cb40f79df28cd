"""What is measured: pipelines, and for each system the settings with which it is one. Peers read this, too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DEPTH = 50
"""Length of each ranked list, everywhere."""

PIPELINES = {
    "A": "4 queries, 10 passages, one answer",
    "B": "4 queries, rerank 20, 10 passages, one answer",
    "C": "4 queries, refine over 10 passages",
    "D": "4 queries, tree over 40 passages",
    "F": "4 queries, rerank 20, refine over 10 passages",
}
"""Every pipeline reads the same number of the same passages, whoever runs it."""

FLOOR, OURS, SERVER, PEER = "floor", "anabranch", "anabranch_server", "llama_index"
NAMES = {
    "llama_index": "LlamaIndex", "langchain": "LangChain", "haystack": "Haystack", FLOOR: "hand-written floor",
    OURS: "Anabranch", SERVER: "Anabranch, server set-up",
}  # fmt: skip

REQUIREMENTS = {
    "llama_index": (
        "llama-index-core", "llama-index-llms-openai-like", "llama-index-retrievers-bm25", "bm25s", "faiss-cpu",
        "openai", "httpx",
    ),
    "langchain": (
        "langchain-classic", "langchain-community", "langchain-openai", "rank-bm25", "faiss-cpu", "openai", "httpx",
    ),
    "haystack": ("haystack-ai", "openai", "httpx"),
    FLOOR: ("httpx", "faiss-cpu"),
    OURS: ("langgraph", "langchain-openai", "faiss-cpu", "openai", "httpx"),
    SERVER: ("langgraph", "langchain-openai", "faiss-cpu", "openai", "httpx"),
}  # fmt: skip
"""Packages whose versions are told."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the tables.

    Attributes:
        system: Module of the system.
        pipeline: Letter.
        title: What is particular about it, empty where its pipeline says it all.
        settings: For a peer and the floor `passages`, `rerank` (how many), `synthesis`, `window` (tokens of a prompt);
            for Anabranch the fields of its Context.
        together: Whether 32 questions are asked at once, too.
    """

    system: str
    pipeline: str
    title: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    together: bool = False

    @property
    def name(self) -> str:
        """Return the name of the row."""
        return f"{self.system}:{self.pipeline}{f' {self.title}' if self.title else ''}"


# The same leaves as everybody's: no parents in their place, and no second round, which no peer has.
_TEN = {"top_k": 10, "merge_threshold": 1.0, "grade": "none", "strategy": "multi", "n_queries": 4, "depth": DEPTH}
_RERANK = {"rerank": "llm", "rerank_depth": 20}
_BATCHES = {**_RERANK, "rerank_batch": 5}
_SMALL = {"synthesis": "refine", "window_tokens": 512}
_FORTY = {**_TEN, "top_k": 40, "synthesis": "map_reduce", "window_tokens": 1600, "answer_form": "cited"}

_A = {"passages": 10, "synthesis": "compact"}
_B = {**_A, "rerank": 20}
_C = {"passages": 10, "synthesis": "refine"}
_D = {"passages": 40, "synthesis": "tree", "window": 2048}
_F = {**_C, "rerank": 20}

ROWS = (
    Row("llama_index", "A", settings=_A, together=True),
    Row("llama_index", "B", settings=_B),
    Row("llama_index", "C", settings=_C),
    Row("llama_index", "D", settings=_D),
    Row("llama_index", "F", settings=_F),
    Row("langchain", "A", settings=_A, together=True),
    Row("langchain", "C", settings=_C),
    Row("langchain", "D", "map-reduce by passage", _D),
    Row("haystack", "B", "rerank 20 in one call", _B, together=True),
    Row(FLOOR, "A", settings=_A, together=True),
    Row(FLOOR, "B", settings=_B),
    Row(FLOOR, "C", "each passage by itself, then one merge", _C),
    Row(FLOOR, "D", settings={**_D, "window": 1600}),
    Row(OURS, "A", settings=_TEN, together=True),
    Row(OURS, "B", "rerank 20 in one call", {**_TEN, **_RERANK}),
    Row(OURS, "B", "rerank in batches of 5", {**_TEN, **_BATCHES}),
    Row(OURS, "C", "default window", {**_TEN, "synthesis": "refine"}),
    Row(OURS, "C", "windows of 512", {**_TEN, **_SMALL}),
    Row(OURS, "D", settings=_FORTY),
    Row(OURS, "F", "rerank in batches of 5, default window", {**_TEN, **_BATCHES, "synthesis": "refine"}),
    Row(OURS, "F", "windows of 512", {**_TEN, **_RERANK, **_SMALL}),
    Row(SERVER, "A", settings=_TEN, together=True),
    Row(SERVER, "D", settings=_FORTY),
)


def rows_of(system: str) -> list[Row]:
    """Return the rows of one system."""
    return [row for row in ROWS if row.system == system]
