"""Lets the async nodes serve synchronous callers too.

LangGraph refuses `invoke` on a node that only has an async function. There is one implementation of each node, async;
for `invoke` it runs on one background event loop that lives as long as the process, so that connection pools and locks
stay on one loop from call to call.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping
from functools import cache
from inspect import signature
from typing import Any, get_args, get_type_hints

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config, set_config_context
from langgraph.graph import StateGraph
from langgraph.runtime import get_runtime

from nodes.settings import Context
from nodes.support.state_validation import checked

Update = Mapping[str, Any]
Node = Callable[..., Awaitable[Update]]
Choice = Callable[[Any], Any]


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


class BothWays(Runnable[Any, Any]):
    """An async node, to be called from `ainvoke` and from `invoke`.

    It has no run of its own in traces, as RunnableLambda would: LangGraph makes one for each node, and a second one
    below it only says the same again, for .3 ms a step.
    """

    def __init__(self, node: Node, extra: Mapping[str, Any]) -> None:
        """Keep the node, and what it is given besides state and runtime."""
        self.name = f"{getattr(node, '__name__', 'node')}_step"
        self._node = node
        self._extra = extra

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Update:  # noqa: A002, ANN401, ARG002
        """Run the node on the background loop, and wait for it."""
        runtime = get_runtime(Context)

        async def call() -> Update:
            return await self._node(input, runtime, **self._extra)

        return _wait(call())

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Update:  # noqa: A002, ANN401, ARG002
        """Run the node."""
        return await self._node(input, get_runtime(Context), **self._extra)


def both_ways(node: Node, **extra: Any) -> BothWays:  # noqa: ANN401  # passed through to the node
    """Return a runnable that calls an async node from `ainvoke` and from `invoke`."""
    return BothWays(node, extra)


class _Edge(Runnable[Any, Any]):
    """A choice of the next step, made on the spot.

    LangGraph puts a synchronous function into a thread when it is called from `ainvoke`, and a run of its own into
    traces: half a millisecond each for a function that takes microseconds.
    """

    def __init__(self, choose: Choice) -> None:
        self.name = getattr(choose, "__name__", "edge")
        # LangGraph reads off the first parameter what of the state is wanted; else it would be what the step was given.
        self.__annotations__ = get_type_hints(choose)
        self.__signature__ = signature(choose)
        self._choose = choose

    def __call__(self, state: Any) -> Any:  # noqa: ANN401
        return self._choose(state)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002, ANN401
        with set_config_context(ensure_config(config)) as context, checked(input):
            return context.run(self._choose, input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002, ANN401
        return self.invoke(input, config)


def route(
    builder: StateGraph[Any, Any, Any, Any],
    source: str,
    choose: Choice,
    targets: list[str] | dict[Hashable, str] | None = None,
) -> None:
    """Add conditional edges that a quick and pure function chooses among.

    Args:
        builder: The graph.
        source: The step that they start from.
        choose: Takes the state and returns the next step or steps.
        targets: Where they may lead; None for what the return type names.
    """
    named = list(get_args(get_type_hints(choose)["return"])) if targets is None else targets
    builder.add_conditional_edges(source, _Edge(choose), named)
