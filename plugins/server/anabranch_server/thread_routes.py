"""Threads over HTTP, under the paths and in the form of LangGraph's servers."""

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
from anabranch_server.checkpoints import measured
from anabranch_server.json_values import as_json
from anabranch_server.request_values import CheckpointId, JsonObject, messages_of, refuse_unsupported
from anabranch_server.requester import Asker, Requester
from anabranch_server.run_queue import UNFINISHED
from anabranch_server.services import NotFoundError, Services, Serving
from anabranch_server.state_history import history_of
from anabranch_server.state_size import refuse_large
from anabranch_server.thread_json import checkpoint_json, interrupts_json, state_json, thread_json
from anabranch_server.thread_records import MAX_ID, MAX_THREADS, ThreadRecord, refuse_large_metadata

router = APIRouter(prefix="/threads", tags=["threads"])

ENDING = 10.0
"""Seconds that a removed thread's runs of this process have to stop before its checkpoints are deleted."""

MAX_OFFSET = 10**9

SUPPORTED: Mapping[str, Sequence[object]] = {
    "status": (),
    "values": (),
    "sort_by": ("updated_at",),
    "sort_order": ("desc",),
    "supersteps": (),
    "ttl": (),
}
"""What threads can be asked for by LangGraph's SDK, with the values that change nothing here."""


class ThreadBody(BaseModel):
    """What a caller says of a thread; what is not named here is left alone."""

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
    """What a caller writes into a thread's state."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    values: JsonObject | None = None
    as_node: str | None = Field(default=None, max_length=100)
    checkpoint_id: CheckpointId = None


Given = Annotated[ThreadBody, Body(default_factory=ThreadBody)]


@router.post("")
async def create(who: Asker, of: Serving, body: Given) -> dict[str, Any]:
    """Make a thread."""
    if body.thread_id is not None and body.if_exists == "do_nothing":
        known = await of.threads.get(who.owner, body.thread_id)
        if known is not None:
            return await _shown(of, known)
    await of.limits.begin(who)
    await of.limits.keep(who, is_thread=True)
    record = await of.new_thread(who.owner, body.thread_id, body.metadata)
    return await _shown(of, record)


@router.post("/search")
async def search(who: Asker, of: Serving, body: Given) -> Response:
    """Return one's own threads, the last used first."""
    found = await of.threads.search(who.owner, **body.model_dump(include={"metadata", "ids", "limit", "offset"}))
    busy = await of.runs.unfinished([each.thread_id for each in found])
    return await _json([thread_json(each, "busy" if each.thread_id in busy else "idle") for each in found])


@router.get("/{thread_id}")
async def get(thread_id: str, who: Asker, of: Serving) -> Response:
    """Return a thread with its state."""
    record = await thread_of(of, who, thread_id)
    state = await of.answer.aget_state({"configurable": {"thread_id": thread_id}})
    shown = {**await _shown(of, record), "values": state.values}
    interrupts = {task.id: interrupts_json(task.interrupts) for task in state.tasks if task.interrupts}
    if interrupts and shown["status"] == "idle":
        shown |= {"status": "interrupted", "interrupts": interrupts}
    return await _json(shown)


@router.patch("/{thread_id}")
async def change(thread_id: str, who: Asker, of: Serving, body: Given) -> dict[str, Any]:
    """Put fields over those of a thread's metadata, such as its title.

    Raises:
        SettingsError: They would be too much.
    """
    known = await thread_of(of, who, thread_id)
    refuse_large_metadata({**known.metadata, **(body.metadata or {})})
    record = await of.threads.change(who.owner, thread_id, body.metadata or {})
    if record is None:
        raise NotFoundError("thread", thread_id)
    return await _shown(of, record)


@router.delete("/{thread_id}", status_code=204)
async def remove(thread_id: str, who: Asker, of: Serving) -> None:
    """Remove a thread with everything that was said in it."""
    await thread_of(of, who, thread_id)
    await audit("delete", who.user, thread_id=thread_id)
    unfinished = [run for run in await of.runs.of_thread(who.owner, thread_id, limit=1000) if run.status in UNFINISHED]
    # First of all, so that no run is accepted in it any more; a run that goes on elsewhere finds itself removed.
    await of.threads.remove(who.owner, thread_id)
    for run in unfinished:
        await of.worker.cancel(run)
        # A step that ends after the checkpoints are gone would leave one behind.
        with suppress(TimeoutError):
            async with asyncio.timeout(ENDING):
                await of.events.over(run.run_id)
    await of.saver.adelete_thread(thread_id)


@router.get("/{thread_id}/state")
async def state(thread_id: str, who: Asker, of: Serving) -> Response:
    """Return what a thread holds now."""
    await thread_of(of, who, thread_id)
    return await _json(state_json(await of.answer.aget_state({"configurable": {"thread_id": thread_id}})))


@router.post("/{thread_id}/state")
async def edit(thread_id: str, who: Asker, of: Serving, body: StateEdit) -> Response:
    """Write into a thread's state, as a step of the graph would have; the next run goes on from there."""
    await thread_of(of, who, thread_id)
    check_values(body.values or {})
    if body.values is not None and "messages" in body.values:
        messages_of(body.values["messages"])
    await of.limits.begin(who)
    await of.limits.keep(who)
    # The namespace is asked for where there is no such checkpoint.
    configurable: dict[str, Any] = {"thread_id": thread_id, "checkpoint_ns": "", **who.as_configurable()}
    if body.checkpoint_id is not None:
        configurable["checkpoint_id"] = await of.checkpoint_of(thread_id, body.checkpoint_id)
    with _told(), measured() as written:
        await refuse_large((await of.answer.aget_state({"configurable": configurable})).values, body.values)
        config = await of.answer.aupdate_state({"configurable": configurable}, body.values, as_node=body.as_node)
    await of.threads.touch(thread_id, written.size)
    return await _json({"checkpoint": checkpoint_json(config)})


@router.get("/{thread_id}/state/{checkpoint_id}")
async def state_at(thread_id: str, checkpoint_id: str, who: Asker, of: Serving) -> Response:
    """Return what a thread held at one of its checkpoints."""
    await thread_of(of, who, thread_id)
    configurable = {"thread_id": thread_id, "checkpoint_id": await of.checkpoint_of(thread_id, checkpoint_id)}
    return await _json(state_json(await of.answer.aget_state({"configurable": configurable})))


@router.post("/{thread_id}/state/checkpoint")
async def state_at_checkpoint(thread_id: str, who: Asker, of: Serving, body: Given) -> Response:
    """Return what a thread held at one of its checkpoints, or holds now."""
    if body.checkpoint_id is None:
        return await state(thread_id, who, of)
    return await state_at(thread_id, body.checkpoint_id, who, of)


@router.post("/{thread_id}/history")
async def history(thread_id: str, who: Asker, of: Serving, body: Given) -> Response:
    """Return a thread's checkpoints, the last one first; fewer than asked for where they are large."""
    await thread_of(of, who, thread_id)
    configurable: dict[str, Any] = {"thread_id": thread_id}
    if body.checkpoint_id is not None:
        configurable["checkpoint_id"] = await of.checkpoint_of(thread_id, body.checkpoint_id)
    before: RunnableConfig | None = None
    if body.before is not None:
        before = {"configurable": {"checkpoint_id": await of.checkpoint_of(thread_id, body.before)}}
    with _told():
        found = await history_of(
            of, {"configurable": configurable}, limit=body.limit, about=body.metadata, before=before
        )
    return Response(found, media_type="application/json")


@router.get("/{thread_id}/history")
async def history_by_get(
    thread_id: str, who: Asker, of: Serving, limit: Annotated[int, Query(ge=1, le=1000)] = 10
) -> Response:
    """Return a thread's checkpoints, the last one first."""
    return await history(thread_id, who, of, ThreadBody(limit=limit))


async def thread_of(of: Services, who: Requester, thread_id: str) -> ThreadRecord:
    """Return a thread of the one who asks.

    Raises:
        NotFoundError: They have none of this id; whether somebody else has is not said.
    """
    record = await of.threads.get(who.owner, thread_id)
    if record is None:
        raise NotFoundError("thread", thread_id)
    return record


@contextmanager
def _told() -> Iterator[None]:
    """Tell the caller what LangGraph says of an edit or a filter that it cannot use.

    Raises:
        SettingsError: It cannot.
    """
    try:
        yield
    except UserError:
        raise
    except (InvalidUpdateError, ValueError, OverflowError) as error:
        raise SettingsError(f"This cannot be used: {error}") from error


async def _shown(of: Services, record: ThreadRecord) -> dict[str, Any]:
    busy = await of.runs.unfinished([record.thread_id])
    return thread_json(record, "busy" if busy else "idle")


async def _json(value: Any) -> Response:  # noqa: ANN401  # whatever a graph holds
    # In a thread: a state may take tens of milliseconds to write.
    return Response(await asyncio.to_thread(as_json, value), media_type="application/json")
