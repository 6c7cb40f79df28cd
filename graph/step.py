"""The one wrapper between LangGraph and a node: `steps = Steps(bindings)`, `builder.add_node("fuse", steps(fuse))`.

A node is an async function of its state and its `Turn`. Around it, a step checks the state, resolves the settings,
counts model calls, and writes a trace line, two `custom` events and a span.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import partial, wraps
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.config import set_config_context
from langgraph.config import get_config
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Command, Overwrite

from anabranch.agent.graph.audit_events import audit_failure
from anabranch.agent.graph.bindings import NONE_BOUND, GraphBindings
from anabranch.agent.graph.dependencies import import_parts
from anabranch.agent.graph.running_turn import RunningTurn, add_degraded
from anabranch.agent.graph.settings_precedence import resolve_settings
from anabranch.agent.graph.state_validation import check_state, check_update, hold_to_reader, shape_of
from anabranch.agent.graph.sync_adapter import wait_for
from anabranch.agent.graph.telemetry import trace_step
from anabranch.agent.nodes.settings import Context, IngestContext
from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.errors import SettingsError
from anabranch.identity.user import UserRole
from anabranch.models.usage import TIMED_OUT, Meter, metered
from anabranch.types import Degraded, Step

NodeFunction = Callable[[Any, Any], Awaitable[Update]]

OwnStep = Callable[..., Any] | Runnable[Any, Any]
"""A replacement for a step: takes the state, or the state and the runtime, and returns an update."""

UNWRITTEN = "model_did_not_write"
"""Code of the record that a model was configured and did not write the answer."""


class Steps:
    """Makes the steps and the edges of one graph."""

    def __init__(self, bindings: GraphBindings = NONE_BOUND, replacements: Mapping[str, OwnStep] | None = None) -> None:
        """Take what the graph was built with; `replacements` are a caller's own steps, by the replaced names."""
        self._bindings = bindings
        self._replacements = dict(replacements or {})

    def __call__(self, node: NodeFunction, name: str = "") -> Runnable[Any, Any]:
        """Return the step of a node, or its replacement; the name is that of the function if none is given."""
        name = name or node.__name__
        return self._replacement(name, shape_of(node)) or NodeStep(name, node, self._bindings)

    def subgraph(self, name: str, graph: Runnable[Any, Any]) -> Runnable[Any, Any]:
        """Return a graph as a node, or its replacement."""
        return self._replacement(name, State) or graph

    def _replacement(self, name: str, shape: type) -> Runnable[Any, Any] | None:
        own = self._replacements.get(name)
        if own is None:
            return None
        if isinstance(own, Runnable):
            return own | PlainCall(partial(_check_returned, name))
        return NodeStep(name, _as_node(name, own), self._bindings, shape=shape)

    def edge(self, choose: Callable[..., Any]) -> PlainCall:
        """Return a path for `add_conditional_edges` that checks the state, and calls `choose(state[, settings])`."""
        needs_settings = len(inspect.signature(choose).parameters) > 1

        @wraps(choose)
        def path(state: Any) -> Any:  # noqa: ANN401  # as `choose` does
            with check_state(state):
                # No role: a server runs edges without a user when a state is edited; steps check the role.
                return choose(state, _resolve(state, self._bindings, None)) if needs_settings else choose(state)

        return PlainCall(path)

    def pause(self, node: Callable[[Any], Update]) -> Any:  # noqa: ANN401  # LangGraph's types take no plain function
        """Return a node that pauses for a person, or its replacement; the trace has no line of the pause."""
        if (own := self._replacement(node.__name__, shape_of(node))) is not None:
            return own

        @wraps(node)
        def run(state: Any) -> Update:  # noqa: ANN401  # as `node` does
            with check_state(state):
                hold_to_reader(state, _resolve(state, self._bindings, "ask"))
            return node(state)

        return run


def refuse_unknown_steps(replacements: Mapping[str, OwnStep], names: Sequence[str]) -> None:
    """Refuse a replacement for a step that does not exist.

    Raises:
        SettingsError: There is no step of that name.
    """
    for name in replacements:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"The steps are {', '.join(names)}."
            raise SettingsError(f"There is no step {name!r} to replace.", hint=hint)


class PlainCall(RunnableLambda[Any, Any]):
    """Calls a plain function at once: a thread and a run of its own in the trace would cost more than the call."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002, ANN401
        """Return the result."""
        # LangGraph sets it for steps alone.
        with set_config_context(config or {}) as context:
            return context.run(self.func, input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002, ANN401
        """Return the result."""
        return self.invoke(input, config)


class NodeStep(Runnable[Any, Any]):
    """Runs a node with its turn, from `ainvoke` and from `invoke`."""

    def __init__(
        self,
        name: str,
        node: NodeFunction,
        bindings: GraphBindings = NONE_BOUND,
        *,
        role: UserRole = "ask",
        has_trace: bool = True,
        shape: type | None = None,
    ) -> None:
        """Take the node; with `has_trace`, its state belongs to a turn and has a channel `trace`.

        Without a `shape`, the state has that of the node's first parameter.
        """
        self.name = f"{name}_step"
        self._step, self._node, self._bindings, self._role, self._has_trace = name, node, bindings, role, has_trace
        self._shape = shape or shape_of(node)
        # Before the first step, the state belongs to the previous turn.
        self._begins = name == "begin"

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Update:  # noqa: A002, ANN401
        """Run it on the background loop, and wait."""
        return wait_for(self.ainvoke(input, config))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Update:  # noqa: A002, ANN401, ARG002
        """Run it."""
        if not import_parts.cache_info().currsize:
            await asyncio.to_thread(import_parts)
        runtime: Runtime[Any] = get_runtime()
        began = time.perf_counter()
        if self._has_trace:
            runtime.stream_writer({"step": self._step, "status": "started"})
        with trace_step(self._step) as record:
            async with audit_failure(self._step):
                with metered() as meter, check_state(input, self._shape) if self._has_trace else nullcontext():
                    turn = self._turn(input, runtime)
                    update, counts = turn.complete(await self._node(input, turn))
            if not self._has_trace:
                return update
            if turn.settings.model is not None and update.get("route", {}).get("name") == "compose":
                add_degraded(update, [_describe_unwritten(self._step, turn, meter)])
            step = _trace_line(self._step, round((time.perf_counter() - began) * 1000, 1), meter, update, counts)
            record.finish(step, update)
        finished = {"status": "finished", "ms": step["ms"], "calls": step["calls"], **step["counts"]}
        runtime.stream_writer({"step": self._step, **finished})
        # A caller's own step may have run a graph, and returns its lines.
        return {**update, "trace": Overwrite([step]) if self._begins else [*update.get("trace", []), step]}

    def _turn(self, state: Mapping[str, Any], runtime: Runtime[Any]) -> RunningTurn:
        if not self._has_trace:
            settings = resolve_settings(_find_context(runtime), bindings=self._bindings, role=self._role)
        elif self._begins:
            settings = resolve_settings(_find_context(runtime), state.get("settings"), bindings=self._bindings)
        else:
            settings = _resolve(state, self._bindings, self._role)
            hold_to_reader(state, settings)
        return RunningTurn(self._step, state, settings, self._bindings, runtime, begins=self._begins)


def _resolve(state: Mapping[str, Any], bindings: GraphBindings, role: UserRole | None) -> Context:
    return resolve_settings(_find_context(get_runtime()), state["turn"]["settings"], bindings=bindings, role=role)


def _find_context(runtime: Runtime[Any] | None) -> Context | None:
    """Return the settings of this call; None if the context is a parent graph's."""
    given = runtime.context if runtime is not None else None
    if isinstance(given, IngestContext):
        return given.as_context
    return given if isinstance(given, Context) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnRuntime(Runtime[Context]):  # type: ignore[misc]  # mypy does not see that Runtime is frozen
    """LangGraph's runtime for a caller's own step; its context is the resolved settings.

    Attributes:
        turn: The turn for built-in steps, as in `await rerank(state, runtime.turn)`.
    """

    turn: Turn

    @classmethod
    def of_turn(cls, turn: RunningTurn) -> OwnRuntime:
        """Return the runtime of the running step."""
        runtime = get_runtime(Context).override(context=turn.settings)
        return cls(**{each.name: getattr(runtime, each.name) for each in fields(Runtime)}, turn=turn)


def _as_node(name: str, own: Callable[..., Any]) -> NodeFunction:
    """Return a caller's function of (state) or (state, runtime) as a node."""
    parameters = _count_parameters(name, own)

    async def node(state: Mapping[str, Any], turn: RunningTurn) -> Update:
        given = (state, OwnRuntime.of_turn(turn))[:parameters]
        # A function that blocks must not hold up the other branches.
        found = own(*given) if inspect.iscoroutinefunction(own) else await asyncio.to_thread(own, *given)
        update: Any = await found if inspect.isawaitable(found) else found
        if isinstance(update, Mapping):
            turn.count(**update.get("counts", {}))
            update = {channel: value for channel, value in update.items() if channel != "counts"}
        check_update(name, update)
        return dict(update)

    return node


def _check_returned(name: str, update: Any) -> Any:  # noqa: ANN401  # what a node may return
    """Check what a caller's own Runnable returned, and return it."""
    for each in update if isinstance(update, list) else [update]:
        values = each.update if isinstance(each, Command) else each
        if values is not None:
            check_update(name, dict(values) if isinstance(values, list | tuple) else values, is_closed=False)
    return update


def _count_parameters(name: str, own: Callable[..., Any]) -> int:
    for count in (2, 1):
        try:
            inspect.signature(own).bind(*range(count))
        except (TypeError, ValueError):
            continue
        return count
    msg = f"The step {name!r} cannot be called with a state: {own!r}."
    raise SettingsError(msg, hint="Give a function (state) or (state, runtime), or a Runnable.")


def _trace_line(name: str, ms: float, meter: Meter, update: Update, reported: Mapping[str, Any]) -> Step:
    """Return a step's trace line; add failures that did not end the step to the update."""
    counts = {**reported, **({"repairs": meter.repairs} if meter.repairs else {})}
    if meter.embedded or meter.known:
        counts |= {"embedded": meter.embedded, "known": meter.known}
    if meter.timed_out:
        counts |= {TIMED_OUT: meter.timed_out}
    if meter.failures:
        where = f"{name}:{counts['retriever']}" if "retriever" in counts else name
        add_degraded(update, [Degraded(step=where, reason=reason) for reason in meter.failures])
    return Step(
        node=name,
        round=_superstep(),
        ms=ms,
        calls=meter.calls,
        prompt_tokens=meter.prompt_tokens,
        output_tokens=meter.output_tokens,
        counts=counts,
    )


def _describe_unwritten(step: str, turn: RunningTurn, meter: Meter) -> Degraded:
    late = "ran out of time and " if meter.timed_out or turn.budget.left.too_slow else ""
    reason = f"the model {turn.settings.model!r} {late}did not write an answer: the passages that match best are shown"
    return Degraded(step=step, reason=reason, code=UNWRITTEN)


def _superstep() -> str:
    """Return the name of the superstep, which branches of a fan-out share; in a subgraph, its name comes first."""
    metadata = get_config().get("metadata", {})
    *outer, _ = str(metadata.get("langgraph_checkpoint_ns", "")).split("|")
    return ":".join([*(graph.split(":", maxsplit=1)[0] for graph in outer), str(metadata.get("langgraph_step", 0))])
