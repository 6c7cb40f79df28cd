"""The ingest graph: fill a corpus from a LangGraph server or Studio, as `anabranch ingest` does from a shell.

The operator decides which folders a caller may read: paths outside ANABRANCH_INGEST_ROOT are refused, and without it
everything but the caller's uploads. Hidden files and the operator's own are always refused. With ANABRANCH_AUTH, the
caller needs the role `ingest`.
"""

from __future__ import annotations

from typing import Any, NotRequired

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from anabranch.agent.graph.step import NodeStep
from anabranch.agent.graph.telemetry import RunSpans
from anabranch.agent.nodes.add_documents import add_documents
from anabranch.agent.nodes.settings import IngestContext


class IngestInput(TypedDict):
    """Files and folders to ingest, relative to the ingest root, and the access tags that their documents get.

    Without `access`, files that are in the corpus keep their tags, and new ones get the tags of the user. The first run
    for a corpus can set `embedder` ('multilingual', say), `language` (such as 'german') and `chunk_sizes` (tokens of a
    root, a middle and a leaf).
    """

    paths: list[str]
    access: NotRequired[list[str] | None]
    embedder: NotRequired[str]
    language: NotRequired[str]
    chunk_sizes: NotRequired[list[int] | None]


class IngestState(IngestInput, total=False):
    """The paths and, afterwards, the result: a row per file, up to a limit, the counts of all files, and warnings."""

    files: list[dict[str, Any]]
    totals: dict[str, Any]
    warnings: list[str]


def build() -> StateGraph[IngestState, IngestContext, IngestInput, IngestState]:
    """Wire the ingest graph."""
    builder = StateGraph(IngestState, context_schema=IngestContext, input_schema=IngestInput)
    step = NodeStep("add_documents", add_documents, role="ingest", has_trace=False)
    builder.add_node("add_documents", step, input_schema=IngestInput)
    builder.add_edge(START, "add_documents")
    builder.add_edge("add_documents", END)
    return builder


graph = build().compile(name="ingest").with_config(callbacks=[RunSpans("ingest")])
