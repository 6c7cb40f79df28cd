"""Writes the audit log of a run, in the graph and not in a server, so that no entry point bypasses it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp

from anabranch.agent.graph.settings_precedence import find_caller
from anabranch.agent.nodes.settings import Context
from anabranch.errors import UserError
from anabranch.identity.audit_log import audit, is_audited
from anabranch.identity.user import User
from anabranch.types import Chunk


async def audit_run(event: str, settings: Context, chunks: Iterable[Chunk] | None = None, **facts: object) -> None:
    """Write an audit line about the current run, with the documents of `chunks`, and `facts` of JSON values.

    Raises:
        OperationError: The line cannot be written, so the run must not continue.
    """
    if not is_audited():
        return
    named = {} if chunks is None else {"documents": _documents(chunks)}
    await audit(event, settings.user, **_run(), corpus=settings.corpus, **named, **facts)


@asynccontextmanager
async def audit_failure(step: str) -> AsyncIterator[None]:
    """Write an audit line if a step fails or is stopped, and re-raise."""
    try:
        yield
    except BaseException as error:
        # LangGraph raises for a pause too, which is no failure.
        if is_audited() and not isinstance(error, GraphBubbleUp):
            event = "stopped" if isinstance(error, asyncio.CancelledError) else "failed"
            # Only the error's type: its message may repeat words of the question.
            await audit(event, _user(), **_run(), step=step, error=type(error).__name__)
        raise


def _documents(chunks: Iterable[Chunk]) -> list[dict[str, str]]:
    return [{"id": key, "source": source} for key, source in {each.doc_id: each.source for each in chunks}.items()]


def _run() -> dict[str, Any]:
    try:
        config = get_config()
    except RuntimeError:  # a step called on its own, outside a graph
        return {}
    configurable, metadata = config.get("configurable") or {}, config.get("metadata") or {}
    run_id = metadata.get("run_id") or configurable.get("run_id")
    return {"run_id": str(run_id) if run_id else None, "thread_id": configurable.get("thread_id")}


def _user() -> User | None:
    try:
        return find_caller(required=False)
    except UserError:
        return None
