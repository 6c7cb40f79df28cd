"""A turn for a node that is called by itself, without a graph."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from anabranch.agent.graph.bindings import NONE_BOUND
from anabranch.agent.graph.running_turn import RunningTurn
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import STATE_VERSION
from anabranch.types import TurnRecord


def record(question: str = "", filters: dict[str, Any] | None = None) -> TurnRecord:
    """Return the record of a turn that asks a question."""
    return TurnRecord(
        version=STATE_VERSION,
        settings={},
        access_digest="",
        generation=0,
        filters=filters,
        question=question,
        standalone_question=question,
    )


def turn_of(step: str, state: Any, **settings: Any) -> RunningTurn:
    """Return the turn of one step; what it puts into a stream goes nowhere."""
    return RunningTurn(step, state, Context(**settings), NONE_BOUND, Runtime())
