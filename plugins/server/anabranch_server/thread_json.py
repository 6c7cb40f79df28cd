"""Threads and their states as LangGraph's servers show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from langgraph.types import Interrupt, StateSnapshot

from anabranch_server.thread_records import ThreadRecord


def thread_json(record: ThreadRecord, status: str) -> dict[str, Any]:
    """Return a thread as LangGraph's servers show it."""
    return {
        "thread_id": record.thread_id,
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
        "metadata": record.metadata,
        "status": status,
        "config": {},
        "values": None,
        "interrupts": {},
    }


def state_json(snapshot: StateSnapshot) -> dict[str, Any]:
    """Return a state as LangGraph's servers show it."""
    return {
        "values": snapshot.values,
        "next": snapshot.next,
        "tasks": [
            {"id": task.id, "name": task.name, "error": str(task.error) if task.error else None,
             "interrupts": interrupts_json(task.interrupts)}
            for task in snapshot.tasks
        ],
        "interrupts": interrupts_json(snapshot.interrupts),
        "metadata": snapshot.metadata,
        "created_at": snapshot.created_at,
        "checkpoint": checkpoint_json(snapshot.config),
        "parent_checkpoint": checkpoint_json(snapshot.parent_config),
    }  # fmt: skip


def interrupts_json(found: Sequence[Interrupt]) -> list[dict[str, Any]]:
    """Return the interrupts that a run waits for."""
    # The schema only where there is one, as LangGraph's servers do.
    schemas = [{"response_schema": each.response_schema} if each.response_schema else {} for each in found]
    return [{"value": each.value, "id": each.id, **schema} for each, schema in zip(found, schemas, strict=True)]


def checkpoint_json(config: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the ids of a checkpoint."""
    if config is None:
        return None
    configurable = config.get("configurable", {})
    return {name: configurable.get(name) for name in ("thread_id", "checkpoint_ns", "checkpoint_id")}


def iso(time: float) -> str:
    """Return a time in ISO 8601, in UTC."""
    return datetime.fromtimestamp(time, UTC).isoformat()
