"""Wraps a node: one line in the trace, two small `custom` events, its span, and the cost of its model calls."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any

from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.support.audit_events import failure_noted
from anabranch.agent.nodes.support.settings_precedence import settle
from anabranch.agent.nodes.support.state_records import Degraded, Step
from anabranch.agent.nodes.support.state_validation import checked, hold_to_reader, shape_of
from anabranch.agent.nodes.support.step_telemetry import observed
from anabranch.agent.nodes.support.turn_generation import reading_generation
from anabranch.errors import ModelError
from anabranch.models.usage import Meter, metered

UNWRITTEN = "model_did_not_write"
"""Code of the record that no model wrote the answer, though one was asked for."""

TIMED_OUT = "timed_out"
"""Under `counts` of a step: how many of its calls to the chat model ran out of time."""

Update = dict[str, Any]
NodeFunction = Callable[..., Awaitable[Update]]


def traced(name: str, *, first: bool = False) -> Callable[[NodeFunction], NodeFunction]:
    """Trace a node under `name`, and give it the settings in force.

    The node's update may hold a key `counts`: small numbers and words for the trace and the `custom` stream, taken out
    of the update here because it is no channel. The first node of a turn starts the trace anew.
    """

    def decorate(node: NodeFunction) -> NodeFunction:
        of = shape_of(node)

        @wraps(node)
        async def run(state: Mapping[str, Any], runtime: Runtime[Context], **extra: Any) -> Update:  # noqa: ANN401
            write = runtime.stream_writer
            write({"step": name, "status": "started"})
            began = time.perf_counter()
            with observed(name) as record:
                async with failure_noted(name):
                    # A turn begins with what is there: what the channel holds is the former turn's.
                    before = 0 if first else state.get("generation", 0)
                    with metered() as meter, checked(state, of), reading_generation(before) as turn:
                        context = settle(state.get("settings"), runtime)
                        if not first:
                            hold_to_reader(state, context)
                        update = dict(await node(state, context, **extra))
                if context.model is not None and update.get("route", {}).get("name") == "compose":
                    update["degraded"] = [*update.get("degraded", []), _unwritten(name, context.model)]
                if not first and turn.number != before:
                    update["generation"] = turn.number
                step = _line(name, round((time.perf_counter() - began) * 1000, 1), meter, update)
                record.ended(step, update)
            write({"step": name, "status": "finished", "ms": step["ms"], "calls": step["calls"], **step["counts"]})
            # A step of somebody's own may have called the one in whose place it stands, which has a line as well.
            return {**update, "trace": Overwrite([step]) if first else [*update.get("trace", []), step]}

        return run

    return decorate


def _line(name: str, ms: float, meter: Meter, update: Update) -> Step:
    """Return a step's line in the trace; its counts are taken out of the update, and its failures put in."""
    counts = update.pop("counts", {}) | ({"repairs": meter.repairs} if meter.repairs else {})
    if meter.embedded or meter.known:
        counts |= {"embedded": meter.embedded, "known": meter.known}
    if meter.timed_out:
        counts |= {TIMED_OUT: meter.timed_out}
    if meter.failures:
        where = f"{name}:{counts['retriever']}" if "retriever" in counts else name
        noted = [Degraded(step=where, reason=reason) for reason in meter.failures]
        update["degraded"] = [*update.get("degraded", []), *noted]
    return Step(
        node=name,
        round=_superstep(),
        ms=ms,
        calls=meter.calls,
        prompt_tokens=meter.prompt_tokens,
        output_tokens=meter.output_tokens,
        counts=counts,
    )


def _unwritten(step: str, model: str) -> Degraded:
    reason = f"{model!r} was asked for and did not write: the passages that match best are shown"
    return Degraded(step=step, reason=reason, code=UNWRITTEN)


def failed(step: str, error: ModelError) -> Degraded:
    """Return the record of a failure that the step survived: what went wrong, and what to do about it."""
    return Degraded(step=step, reason=str(error), code=error.code)


def _superstep() -> str:
    """Return the name of the superstep: branches of one fan-out share it, so their calls are one round trip.

    The steps of a subgraph are counted from one again, so that its own name stands before theirs.
    """
    try:
        metadata = get_config().get("metadata", {})
    except RuntimeError:  # a node called on its own, outside a graph
        return "0"
    *outer, _ = str(metadata.get("langgraph_checkpoint_ns", "")).split("|")
    return ":".join([*(graph.split(":", maxsplit=1)[0] for graph in outer), str(metadata.get("langgraph_step", 0))])
