"""Holds the branches of one step to `max_concurrency`: LangGraph runs all branches of a fan-out at once."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary

from langgraph.runtime import Runtime

from nodes.settings import Context

_gates: WeakValueDictionary[tuple[str, int], asyncio.Semaphore] = WeakValueDictionary()


def gate_of(context: Context, runtime: Runtime[Context]) -> asyncio.Semaphore:
    """Return the gate that the branches of this step share; it lives as long as one of them holds it."""
    step = runtime.execution_info
    if step is None:
        return asyncio.Semaphore(context.max_concurrency)
    # Branches of one step start from one checkpoint, and a semaphore belongs to its event loop.
    key = (step.checkpoint_id, id(asyncio.get_running_loop()))
    return _gates.setdefault(key, asyncio.Semaphore(context.max_concurrency))
