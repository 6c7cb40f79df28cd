"""Whoever changes what checkpoints hold raises the version of the state: older runs are then refused, not misread."""

from __future__ import annotations

import hashlib
import json
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from langchain_core.messages import AnyMessage
from typing_extensions import is_typeddict

from anabranch.agent.graph import answer, retrieval
from anabranch.agent.nodes.state import STATE_VERSION, OutputState, RetrievalState, State

STATES = (State, OutputState, RetrievalState)

DIGESTS = {1: "972902d03e96b2f8"}
"""Of the state of each version."""

STEPS = {
    "begin", "retrieval", "survey", "review_sources", "pack", "create", "refine", "map", "gather", "reduce",
    "installed", "cite", "abstain", "finish", "condense", "rewrite", "retrieve", "fuse", "rerank", "review_queries",
    "merge", "grade", "follow", "widen",
}  # fmt: skip
"""Every name that a step of any version has had."""


def describe_state() -> dict[str, Any]:
    """Return the names and types of the channels and of the records in them, and of what each step takes."""
    records: dict[str, Any] = {}
    for shape in STATES:
        describe_type(shape, records)
    # What an edge sends to a step is in the checkpoint while the step has not ended.
    nodes = {**answer.build().nodes, **retrieval.build().nodes}
    takes = {name: describe_type(node.input_schema, records) for name, node in sorted(nodes.items())}
    return {"records": dict(sorted(records.items())), "steps": takes}


def describe_type(hint: Any, records: dict[str, Any]) -> str:
    """Return a type in words that are the same in each Python; add the fields of records to `records`."""
    if hint == AnyMessage:
        return "AnyMessage"
    if is_typeddict(hint):
        if hint.__name__ not in records:
            records[hint.__name__] = fields = {}
            hints = get_type_hints(hint, include_extras=True)
            fields |= {name: describe_type(each, records) for name, each in sorted(hints.items())}
        return str(hint.__name__)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        # A channel or a reducer of another kind reads what is stored in another way.
        marks = [*channels_in(hint.__metadata__)]
        return "/".join([describe_type(inner[0], records), *marks])
    if origin is Literal:
        return f"Literal{sorted(map(repr, inner))}"
    parts = [describe_type(each, records) for each in inner]
    if origin in (Union, types.UnionType):
        return " | ".join(sorted(parts))
    name = getattr(origin or hint, "__name__", str(hint))
    return f"{name}[{', '.join(parts)}]" if parts else name


def channels_in(marks: tuple[Any, ...]) -> Iterator[str]:
    """Yield the names of reducers and of classes of channels."""
    for mark in marks:
        if callable(mark):
            yield mark.__name__.strip("_")
        elif type(mark).__module__.startswith("langgraph"):
            yield type(mark).__name__


def test_a_changed_state_has_a_version_of_its_own() -> None:
    digest = hashlib.sha256(json.dumps(describe_state()).encode()).hexdigest()[:16]
    assert DIGESTS.get(STATE_VERSION) == digest, (
        "What checkpoints hold has changed: raise STATE_VERSION in nodes/state.py, and add the new version to DIGESTS "
        f"with {digest!r}. Change the digest of a version only before anybody has used it."
    )
    assert max(DIGESTS) == STATE_VERSION


def test_no_name_of_a_step_is_lost() -> None:
    steps = {*answer.build().nodes, *retrieval.build().nodes}
    assert steps >= STEPS, (
        "LangGraph ends a run that waits at a step of no name without an answer and without an error. Keep the name: "
        'builder.add_node("old", steps(finish, "old")) refuses the runs of other versions that wait there.'
    )
    assert steps == STEPS, "Add the name to STEPS."
