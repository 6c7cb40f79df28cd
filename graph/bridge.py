"""Lets the async nodes serve synchronous callers too.

LangGraph refuses `invoke` on a node that only has an async function. There is one implementation of each node, async;
for `invoke` it runs on one background event loop that lives as long as the process, so that connection pools and locks
stay on one loop from call to call.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from functools import cache
from typing import Any

from langchain_core.runnables import RunnableLambda
from langgraph.runtime import get_runtime

from graph.context import Context

Update = Mapping[str, Any]
Node = Callable[..., Awaitable[Update]]


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="anabranch-sync", daemon=True).start()
    return loop


def _wait(coroutine: Coroutine[Any, Any, Update]) -> Update:
    """Run a coroutine on the background loop, in the caller's context variables, and wait for it."""
    loop = _background_loop()
    done: Future[Update] = Future()
    context = copy_context()

    async def work() -> None:
        try:
            done.set_result(await coroutine)
        except BaseException as error:  # noqa: BLE001  # carried over to the waiting thread, whatever it is
            done.set_exception(error)

    loop.call_soon_threadsafe(lambda: loop.create_task(work(), context=context))
    return done.result()


def both_ways(node: Node, **extra: Any) -> RunnableLambda[Any, Any]:  # noqa: ANN401  # passed through to the node
    """Return a runnable that calls an async node from `ainvoke` and from `invoke`."""

    async def from_async(state: Any) -> Update:  # noqa: ANN401  # each node has a state type of its own
        return await node(state, get_runtime(Context), **extra)

    def from_sync(state: Any) -> Update:  # noqa: ANN401
        runtime = get_runtime(Context)

        async def call() -> Update:
            return await node(state, runtime, **extra)

        return _wait(call())

    return RunnableLambda(from_sync, from_async, name=f"{getattr(node, '__name__', 'node')}_step")
