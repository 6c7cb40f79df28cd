"""Threads over HTTP, with the paths and the JSON of LangGraph's servers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query
from fastapi.responses import Response
from langchain_core.runnables import RunnableConfig
from langgraph.errors import InvalidUpdateError
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, model_validator

from anabranch.agent.graph.state_validation import check_values
from anabranch.errors import SettingsError, UserError
from anabranch.identity.audit_log import audit
from anabranch_server.checkpoints import measure_writes
from anabranch_server.json_values import as_json
from anabranch_server.request_values import CheckpointId, JsonObject, read_messages, refuse_unsupported
from anabranch_server.requester import Asker, Requester
from anabranch_server.run_queue import UNFINISHED
from anabranch_server.services import NotFoundError, Services, Serving
from anabranch_server.state_history import read_history
from anabranch_server.state_size import refuse_large
from anabranch_server.thread_json import checkpoint_json, interrupts_json, state_json, thread_json
from anabranch_server.thread_records import MAX_ID, MAX_THREADS, ThreadRecord, refuse_large_metadata

router = APIRouter(prefix="/threads", tags=["threads"])

ENDING = 10.0
"""Seconds that the runs of a removed thread have to stop before its checkpoints are deleted."""

MAX_OFFSET = 10**9

SUPPORTED: Mapping[str, Sequence[object]] = {
    "status": (),
    "values": (),
    "sort_by": ("updated_at",),
    "sort_order": ("desc",),
    "supersteps": (),
    "ttl": (),
}
"""Fields of LangGraph's SDK that this server does not support, with the values that it accepts."""


class ThreadBody(BaseModel):
    """The body of a request for threads; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    thread_id: str | None = Field(default=None, min_length=1, max_length=MAX_ID)
    metadata: JsonObject | None = None
    if_exists: Literal["raise", "do_nothing"] = "raise"
    limit: int = Field(default=10, ge=1, le=MAX_THREADS)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)
    ids: list[str] | None = Field(default=None, max_length=MAX_THREADS)
    checkpoint_id: CheckpointId = None
    before: str | None = Field(
        default=None, max_length=200, validation_alias=AliasChoices(AliasPath("before", "checkpoint_id"), "before")
    )

    @model_validator(mode="before")
    @classmethod
    def _supported(cls, value: object) -> object:
        refuse_unsupported(value, SUPPORTED)
        return value


class StateEdit(BaseModel):
    """Values that a caller writes into a thread's state."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    values: JsonObject | None = None
    as_node: str | None = Field(default=None, max_length=100)
    checkpoint_id: CheckpointId = None


Given = Annotated[ThreadBody, Body(default_factory=ThreadBody)]


@router.post("")
async def create(caller: Asker, services: Serving, body: Given) -> dict[str, Any]:
    """Make a thread."""
    if body.thread_id is not None and body.if_exists == "do_nothing":
        known = await services.threads.get(caller.owner, body.thread_id)
        if known is not None:
            return await _thread_json_now(services, known)
    await services.limits.begin(caller)
    await services.limits.refuse_full(caller, is_thread=True)
    return thread_json(await services.new_thread(caller.owner, body.thread_id, body.metadata), "idle")


@router.post("/search")
async def search(caller: Asker, services: Serving, body: Given) -> Response:
    """Return the caller's threads, the last used first."""
    found = await services.threads.search(
        caller.owner, **body.model_dump(include={"metadata", "ids", "limit", "offset"})
    )
    busy = await services.runs.find_unfinished([each.thread_id for each in found])
    return await _json([thread_json(each, "busy" if each.thread_id in busy else "idle") for each in found])


@router.get("/{thread_id}")
async def get(thread_id: str, caller: Asker, services: Serving) -> Response:
    """Return a thread with its state."""
    record = await find_thread(services, caller, thread_id)
    state = await services.answer.aget_state({"configurable": {"thread_id": thread_id}})
    shown = {**await _thread_json_now(services, record), "values": state.values}
    interrupts = {task.id: interrupts_json(task.interrupts) for task in state.tasks if task.interrupts}
    if interrupts and shown["status"] == "idle":
        shown |= {"status": "interrupted", "interrupts": interrupts}
    return await _json(shown)


@router.patch("/{thread_id}")
async def change(thread_id: str, caller: Asker, services: Serving, body: Given) -> dict[str, Any]:
    """Merge fields, such as the title, into a thread's metadata.

    Raises:
        SettingsError: The metadata would be too large.
    """
    known = await find_thread(services, caller, thread_id)
    refuse_large_metadata({**known.metadata, **(body.metadata or {})})
    record = await services.threads.change(caller.owner, thread_id, body.metadata or {})
    if record is None:
        raise NotFoundError("thread", thread_id)
    return await _thread_json_now(services, record)


@router.delete("/{thread_id}", status_code=204)
async def remove(thread_id: str, caller: Asker, services: Serving) -> None:
    """Remove a thread with its runs and checkpoints."""
    await find_thread(services, caller, thread_id)
    await audit("delete", caller.user, thread_id=thread_id)
    unfinished = [
        run
        for run in await services.runs.list_of_thread(caller.owner, thread_id, limit=1000)
        if run.status in UNFINISHED
    ]
    # First, so that it accepts no more runs; a run of another worker notices that it was removed.
    await services.threads.remove(caller.owner, thread_id)
    for run in unfinished:
        await services.worker.cancel(run)
        # A step that ends after the checkpoints are deleted would leave another one.
        with suppress(TimeoutError):
            async with asyncio.timeout(ENDING):
                await services.events.wait_for_end(run.run_id)
    await services.saver.adelete_thread(thread_id)


@router.get("/{thread_id}/state")
async def state(thread_id: str, caller: Asker, services: Serving) -> Response:
    """Return a thread's state."""
    await find_thread(services, caller, thread_id)
    return await _json(state_json(await services.answer.aget_state({"configurable": {"thread_id": thread_id}})))


@router.post("/{thread_id}/state")
async def edit(thread_id: str, caller: Asker, services: Serving, body: StateEdit) -> Response:
    """Write into a thread's state as a step of the graph would; the next run goes on from there."""
    await find_thread(services, caller, thread_id)
    check_values(body.values or {})
    if body.values is not None and "messages" in body.values:
        read_messages(body.values["messages"])
    await services.limits.begin(caller)
    await services.limits.refuse_full(caller)
    # LangGraph requires the namespace where there is no such checkpoint.
    configurable: dict[str, Any] = {"thread_id": thread_id, "checkpoint_ns": "", **caller.as_configurable()}
    if body.checkpoint_id is not None:
        configurable["checkpoint_id"] = await services.find_checkpoint(thread_id, body.checkpoint_id)
    with _translate_errors(), measure_writes() as written:
        await refuse_large((await services.answer.aget_state({"configurable": configurable})).values, body.values)
        config = await services.answer.aupdate_state({"configurable": configurable}, body.values, as_node=body.as_node)
    await services.threads.touch(thread_id, written.size)
    return await _json({"checkpoint": checkpoint_json(config)})


@router.get("/{thread_id}/state/{checkpoint_id}")
async def state_at(thread_id: str, checkpoint_id: str, caller: Asker, services: Serving) -> Response:
    """Return a thread's state at one of its checkpoints."""
    await find_thread(services, caller, thread_id)
    configurable = {"thread_id": thread_id, "checkpoint_id": await services.find_checkpoint(thread_id, checkpoint_id)}
    return await _json(state_json(await services.answer.aget_state({"configurable": configurable})))


@router.post("/{thread_id}/state/checkpoint")
async def state_at_checkpoint(thread_id: str, caller: Asker, services: Serving, body: Given) -> Response:
    """Return a thread's state at one of its checkpoints, or the last one."""
    if body.checkpoint_id is None:
        return await state(thread_id, caller, services)
    return await state_at(thread_id, body.checkpoint_id, caller, services)


@router.post("/{thread_id}/history")
async def history(thread_id: str, caller: Asker, services: Serving, body: Given) -> Response:
    """Return a thread's checkpoints, the last one first; fewer than `limit` where they are large."""
    await find_thread(services, caller, thread_id)
    configurable: dict[str, Any] = {"thread_id": thread_id}
    if body.checkpoint_id is not None:
        configurable["checkpoint_id"] = await services.find_checkpoint(thread_id, body.checkpoint_id)
    before: RunnableConfig | None = None
    if body.before is not None:
        before = {"configurable": {"checkpoint_id": await services.find_checkpoint(thread_id, body.before)}}
    with _translate_errors():
        found = await read_history(
            services, {"configurable": configurable}, limit=body.limit, metadata=body.metadata, before=before
        )
    return Response(found, media_type="application/json")


@router.get("/{thread_id}/history")
async def history_by_get(
    thread_id: str, caller: Asker, services: Serving, limit: Annotated[int, Query(ge=1, le=1000)] = 10
) -> Response:
    """Return a thread's checkpoints, the last one first."""
    return await history(thread_id, caller, services, ThreadBody(limit=limit))


async def find_thread(services: Services, caller: Requester, thread_id: str) -> ThreadRecord:
    """Return one of the caller's threads.

    Raises:
        NotFoundError: The caller has none with this id, though somebody else may.
    """
    record = await services.threads.get(caller.owner, thread_id)
    if record is None:
        raise NotFoundError("thread", thread_id)
    return record


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise LangGraph's errors about an edit or a filter as a caller's error.

    Raises:
        SettingsError: LangGraph cannot use it.
    """
    try:
        yield
    except UserError:
        raise
    except (InvalidUpdateError, ValueError, OverflowError) as error:
        raise SettingsError(f"This cannot be used: {error}") from error


async def _thread_json_now(services: Services, record: ThreadRecord) -> dict[str, Any]:
    busy = await services.runs.find_unfinished([record.thread_id])
    return thread_json(record, "busy" if busy else "idle")


async def _json(value: Any) -> Response:  # noqa: ANN401  # whatever a graph holds
    # In a thread, because writing a state may take tens of milliseconds.
    return Response(await asyncio.to_thread(as_json, value), media_type="application/json")
