"""Resumes a run that a worker takes over, or gives it up."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from anabranch.errors import OperationError
from anabranch_server.identity import AUTH_USER, User
from anabranch_server.run_queue import RunRecord
from anabranch_server.run_request import RunRequest

ATTEMPTS = 5
"""Tries from one checkpoint, after which a run is given up: it may be what kills its processes."""

WORKED = 2 * 3600.0
"""Seconds of work after which a run is not taken over again: it would block every server in turn."""


def config_of(record: RunRecord, request: RunRequest, *, has_begun: bool) -> RunnableConfig:
    """Return LangGraph's config of a run: its thread, its user, and its id.

    Args:
        record: The run.
        request: Its request.
        has_begun: Whether it goes on from its own last checkpoint.
    """
    configurable: dict[str, Any] = {"thread_id": record.state_id}
    if request.checkpoint_id is not None and not has_begun:
        configurable["checkpoint_id"] = request.checkpoint_id
    if record.user is not None:
        configurable[AUTH_USER] = User.model_validate(record.user)
    return RunnableConfig(
        configurable=configurable,
        # The id tells a worker that takes the run over which checkpoints are this run's.
        metadata={"run_id": record.run_id},
        run_name=request.assistant_id,
        max_concurrency=request.max_concurrency,
    )


def refuse_hopeless(record: RunRecord) -> None:
    """Give up a run that was taken over often without progress, or that has had too much time.

    Raises:
        OperationError: The run is given up.
    """
    reason = ""
    if record.tries > ATTEMPTS:
        reason = f"was begun {ATTEMPTS} times at the same step, and each time the server ended before the step did"
    elif record.worked > WORKED:
        reason = f"was worked on for {record.worked / 60:.0f} minutes, and each time the server ended before it did"
    if reason:
        raise OperationError(f"This run {reason}.", hint="Ask a simpler question, or see the server's log.")


def last_checkpoint(snapshot: StateSnapshot) -> str:
    """Return the id of the last checkpoint, subgraphs included, and the number of steps that ended since."""
    inner = [last_checkpoint(task.state) for task in snapshot.tasks if isinstance(task.state, StateSnapshot)]
    ended = sum(task.result is not None for task in snapshot.tasks)
    # Ids are in the order of time.
    return max([f"{snapshot.config.get('configurable', {}).get('checkpoint_id', '')}+{ended}", *inner])


def belongs_to(snapshot: StateSnapshot, record: RunRecord) -> bool:
    """Tell whether a thread's last checkpoint is this run's, which then goes on from there."""
    return (snapshot.metadata or {}).get("run_id") == record.run_id
