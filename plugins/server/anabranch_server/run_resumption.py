"""What a run goes on from when a worker takes it over, and when it is given up."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from anabranch.errors import OperationError
from anabranch_server.identity import AUTH_USER, User
from anabranch_server.run_queue import RunRecord
from anabranch_server.run_request import RunRequest

ATTEMPTS = 5
"""Times that a run is begun from one place: one that ends its process would end every process, one after the other."""

WORKED = 2 * 3600.0
"""Seconds of work after which a run whose worker is gone is not taken over: it would hold up every server in turn."""


def config_of(record: RunRecord, request: RunRequest, *, has_begun: bool) -> RunnableConfig:
    """Return what LangGraph is told of a run: its thread, who asks, and its id, by which its checkpoints are known.

    Args:
        record: The run.
        request: What was asked.
        has_begun: Whether it goes on from its own last checkpoint.
    """
    configurable: dict[str, Any] = {"thread_id": record.state_id}
    if request.checkpoint_id is not None and not has_begun:
        configurable["checkpoint_id"] = request.checkpoint_id
    if record.user is not None:
        configurable[AUTH_USER] = User.model_validate(record.user)
    return RunnableConfig(
        configurable=configurable,
        # By its id, a worker that takes the run over knows the checkpoints that are this run's.
        metadata={"run_id": record.run_id},
        run_name=request.assistant_id,
        max_concurrency=request.max_concurrency,
    )


def refuse_hopeless(record: RunRecord) -> None:
    """Give a run up that was taken over often, and got no further, or that has had much time.

    Raises:
        OperationError: It is such a one.
    """
    told = ""
    if record.tries > ATTEMPTS:
        told = f"was begun {ATTEMPTS} times at the same step, and each time the server ended before the step did"
    elif record.worked > WORKED:
        told = f"was worked on for {record.worked / 60:.0f} minutes, and each time the server ended before it did"
    if told:
        raise OperationError(f"This run {told}.", hint="Ask something that needs less, or see the server's log.")


def reached(snapshot: StateSnapshot) -> str:
    """Return the id of the last checkpoint, also of a step that is a graph itself, and how many steps ended since."""
    inner = [reached(task.state) for task in snapshot.tasks if isinstance(task.state, StateSnapshot)]
    ended = sum(task.result is not None for task in snapshot.tasks)
    # Ids are in the order of time.
    return max([f"{snapshot.config.get('configurable', {}).get('checkpoint_id', '')}+{ended}", *inner])


def is_of(snapshot: StateSnapshot, record: RunRecord) -> bool:
    """Tell whether a thread's last checkpoint is this run's: then it goes on from there, and is not begun again."""
    return (snapshot.metadata or {}).get("run_id") == record.run_id
