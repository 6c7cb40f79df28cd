"""Makes the async nodes usable from synchronous callers.

LangGraph refuses `invoke` on a node that only has an async function. There is one implementation of each node, async;
for `invoke` it runs on one background event loop that lives as long as the process, so that connection pools and locks
stay on one loop from call to call.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import StateGraph
from langgraph.runtime import get_runtime

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.support.graph_bindings import GraphBindings, bindings_in_force
from anabranch.agent.nodes.support.state_validation import checked
from anabranch.agent.nodes.support.tracing import NodeFunction, Update


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="anabranch-sync", daemon=True).start()
    return loop


def _wait(coroutine: Coroutine[Any, Any, Update]) -> Update:
    """Run a coroutine on the background loop, in the caller's context variables, and wait for it.

    Whoever stops waiting, as after Ctrl-C, ends the work as well: nobody would see what it brings, or stop its calls.
    """

    async def work() -> Update | BaseException:
        try:
            return await coroutine
        except (KeyboardInterrupt, SystemExit) as error:  # a task that raises one ends the loop, for all who come later
            return error

    done = asyncio.run_coroutine_threadsafe(work(), _background_loop())
    try:
        result = done.result()
    except BaseException:
        done.cancel()
        raise
    if isinstance(result, BaseException):
        raise result
    return result


class _BothWays(Runnable[Any, Any]):
    """An async node, to be called from `ainvoke` and from `invoke`.

    A RunnableLambda of two functions would do the same, but LangGraph makes a run for each node in traces, and the
    lambda a second one below it that only says the same again.
    """

    def __init__(self, node: NodeFunction, bindings: GraphBindings, extra: Mapping[str, Any]) -> None:
        self.name = f"{getattr(node, '__name__', 'node')}_step"
        self._node = node
        self._bindings = bindings
        self._extra = extra

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Update:  # noqa: A002, ANN401
        return _wait(self.ainvoke(input, config))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Update:  # noqa: A002, ANN401, ARG002
        with _running(self._bindings):
            return await self._node(input, get_runtime(Context), **self._extra)


@contextmanager
def _running(bindings: GraphBindings) -> Iterator[None]:
    """Let the steps of a graph know what it was built with; those of a graph inside have their own."""
    token = bindings_in_force.set(bindings)
    try:
        yield
    finally:
        bindings_in_force.reset(token)


NONE_BOUND = GraphBindings()


def both_ways(node: NodeFunction, *, bindings: GraphBindings = NONE_BOUND, **extra: Any) -> Runnable[Any, Any]:  # noqa: ANN401  # passed through to the node
    """Return a runnable that calls an async node from `ainvoke` and from `invoke`, with state, runtime and `extra`.

    Args:
        node: The step.
        bindings: What the graph was built with.
        **extra: Further arguments of the step.
    """
    return _BothWays(node, bindings, extra)


def route(
    builder: StateGraph[Any, Any, Any, Any],
    source: str,
    choose: Callable[[Any], Any],
    targets: list[str] | dict[Hashable, str] | None = None,
    *,
    bindings: GraphBindings = NONE_BOUND,
) -> None:
    """Add conditional edges that check the state of the thread before they choose.

    Args:
        builder: The graph.
        source: The step that they start from.
        choose: Takes the state and returns the next step or steps.
        targets: Where they may lead; None for what the return type names.
        bindings: What the graph was built with.
    """

    @wraps(choose)
    def path(state: Any) -> Any:  # noqa: ANN401  # as `choose` does
        with _running(bindings), checked(state):
            return choose(state)

    builder.add_conditional_edges(source, path, targets)
