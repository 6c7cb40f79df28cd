"""Runs over HTTP, with the paths and the JSON of LangGraph's servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from anabranch.errors import AnabranchError
from anabranch_server.event_log import STREAM_HEADERS, RunEvent
from anabranch_server.json_values import as_json
from anabranch_server.request_values import read_messages
from anabranch_server.requester import Asker, Requester
from anabranch_server.run_queue import RunRecord
from anabranch_server.run_request import RunRequest
from anabranch_server.services import NotFoundError, Services, Serving
from anabranch_server.thread_json import iso
from anabranch_server.thread_routes import find_thread

router = APIRouter(tags=["runs"])


TITLE = 80
"""Most characters of a thread's title, which is its first question."""

# Databases do not compare numbers with more digits; no event has so many.
LastEvent = Annotated[str | None, Header(max_length=18)]


@router.post("/threads/{thread_id}/runs")
async def create(thread_id: str, body: RunRequest, caller: Asker, services: Serving) -> JSONResponse:
    """Accept a run, which goes on without a reader."""
    record = await _accept_run(services, caller, body, thread_id)
    return JSONResponse(run_json(record), headers=_location_headers(record))


@router.post("/threads/{thread_id}/runs/stream")
async def stream(thread_id: str, body: RunRequest, caller: Asker, services: Serving) -> StreamingResponse:
    """Accept a run, and stream its events."""
    return _stream_response(services, await _accept_run(services, caller, body, thread_id), body, 0)


@router.post("/threads/{thread_id}/runs/wait")
async def wait(thread_id: str, body: RunRequest, caller: Asker, services: Serving, request: Request) -> Response:
    """Accept a run, and return its result."""
    return await _wait_response(services, await _accept_run(services, caller, body, thread_id), body, request)


@router.post("/runs/stream")
async def stream_alone(body: RunRequest, caller: Asker, services: Serving) -> StreamingResponse:
    """Stream a run without a thread, which is not stored."""
    return _stream_response(services, await _accept_run(services, caller, body, None), body, 0)


@router.post("/runs/wait")
async def wait_alone(body: RunRequest, caller: Asker, services: Serving, request: Request) -> Response:
    """Return the result of a run without a thread."""
    return await _wait_response(services, await _accept_run(services, caller, body, None), body, request)


@router.get("/threads/{thread_id}/runs")
async def list_runs(
    thread_id: str, caller: Asker, services: Serving, limit: Annotated[int, Query(ge=1, le=1000)] = 10
) -> JSONResponse:
    """Return a thread's runs, the last one first."""
    await find_thread(services, caller, thread_id)
    return JSONResponse([run_json(each) for each in await services.runs.list_of_thread(caller.owner, thread_id, limit)])


@router.get("/threads/{thread_id}/runs/{run_id}")
async def get(thread_id: str, run_id: str, caller: Asker, services: Serving) -> JSONResponse:
    """Return a run."""
    return JSONResponse(run_json(await _find_run(services, caller, thread_id, run_id)))


@router.get("/threads/{thread_id}/runs/{run_id}/join")
async def join(thread_id: str, run_id: str, caller: Asker, services: Serving) -> Response:
    """Wait for a run, and return its result."""
    return await _outcome_response(services, await _find_run(services, caller, thread_id, run_id))


@router.get("/threads/{thread_id}/runs/{run_id}/stream")
async def join_stream(
    thread_id: str, run_id: str, caller: Asker, services: Serving, last_event_id: LastEvent = None
) -> StreamingResponse:
    """Stream a run's events after the given one, or from the start."""
    return _join_response(services, await _find_run(services, caller, thread_id, run_id), last_event_id)


@router.get("/runs/{run_id}/stream")
async def join_stream_alone(
    run_id: str, caller: Asker, services: Serving, last_event_id: LastEvent = None
) -> StreamingResponse:
    """Stream the events of a run without a thread."""
    return _join_response(services, await _find_run(services, caller, None, run_id), last_event_id)


@router.post("/threads/{thread_id}/runs/{run_id}/cancel", status_code=204)
async def cancel(thread_id: str, run_id: str, caller: Asker, services: Serving, *, wait: bool = False) -> Response:
    """Stop a run; the thread keeps the state of its finished steps."""
    record = await _find_run(services, caller, thread_id, run_id)
    await services.worker.cancel(record)
    if wait:
        await services.events.wait_for_end(run_id)
    return Response(status_code=204)


@router.delete("/threads/{thread_id}/runs/{run_id}", status_code=204)
async def remove(thread_id: str, run_id: str, caller: Asker, services: Serving) -> Response:
    """Stop a run, if it has not ended."""
    return await cancel(thread_id, run_id, caller, services, wait=False)


async def _accept_run(services: Services, caller: Requester, body: RunRequest, thread_id: str | None) -> RunRecord:
    """Accept a caller's run in one of their threads.

    Raises:
        UserError: The caller may not do this, or has no such thread.
    """
    body.check(list(services.graphs))
    caller.require("ingest" if body.assistant_id == "ingest" else "ask")
    known = await services.threads.get(caller.owner, thread_id) if thread_id is not None else None
    if thread_id is not None and known is None and body.if_not_exists == "reject":
        raise NotFoundError("thread", thread_id)
    if body.checkpoint_id is not None:
        await services.find_checkpoint(thread_id if known is not None else None, body.checkpoint_id)
    # Counted before anything is stored, so that a refused question leaves no thread and no title.
    await services.count(caller, body, is_thread=thread_id is not None and known is None)
    if thread_id is not None:
        record = known or await services.new_thread(caller.owner, thread_id)
        if "title" not in record.metadata and (title := _title(body.input or {})):
            await services.threads.change(caller.owner, thread_id, {"title": title, "graph_id": body.assistant_id})
    return await services.add(caller, body, thread_id)


def _title(given: dict[str, Any]) -> str:
    text = given.get("question")
    if not text and given.get("messages"):
        text = read_messages(given["messages"])[-1].text
    return " ".join(text.split())[:TITLE] if isinstance(text, str) else ""


async def _find_run(services: Services, caller: Requester, thread_id: str | None, run_id: str) -> RunRecord:
    record = await services.runs.get(run_id, caller.owner)
    if record is None or record.thread_id != thread_id:
        raise NotFoundError("run", run_id)
    return record


async def _wait_response(services: Services, record: RunRecord, body: RunRequest, request: Request) -> Response:
    if body.on_disconnect == "cancel":
        await services.wait_for_run(record, request)
    reply = await _outcome_response(services, record)
    reply.headers.update(_location_headers(record))
    return reply


async def _outcome_response(services: Services, record: RunRecord) -> Response:
    await services.events.wait_for_end(record.run_id)
    run = await services.runs.get(record.run_id)
    result = (run.result if run is not None else None) or {}
    # As on LangGraph's servers, a failure is a result, which the client raises.
    outcome = {"__error__": result["error"]} if "error" in result else result.get("values")
    # In a thread, because writing a state may take tens of milliseconds.
    return await asyncio.to_thread(JSONResponse, outcome)


def _join_response(services: Services, record: RunRecord, last_event_id: str | None) -> StreamingResponse:
    after = int(last_event_id) if last_event_id is not None and last_event_id.isdecimal() else 0
    return _stream_response(
        services, record, RunRequest.model_validate({**record.request, "on_disconnect": "continue"}), after
    )


def _stream_response(services: Services, record: RunRecord, body: RunRequest, after: int) -> StreamingResponse:
    async def lines() -> AsyncIterator[str]:
        async with services.cancel_on_disconnect(record) if body.on_disconnect == "cancel" else nullcontext():
            try:
                async for some in services.events.read_together(record.run_id, after):
                    yield "".join(map(_line, some)) or ": waiting\n\n"
            except AnabranchError as error:
                # The status has been sent already; the client can read on from its last event.
                failure = {"error": type(error).__name__, "message": str(error)}
                yield f"event: error\ndata: {as_json(failure)}\n\n"

    return StreamingResponse(
        lines(), media_type="text/event-stream", headers={**STREAM_HEADERS, **_location_headers(record)}
    )


def _line(event: RunEvent) -> str:
    return f"id: {event.number}\nevent: {event.name}\ndata: {event.data}\n\n"


def _location_headers(record: RunRecord) -> dict[str, str]:
    """Return the headers that tell a client the address of its run and of its stream."""
    # Quoted, because an id may hold characters that a header must not.
    base = f"/threads/{quote(record.thread_id, safe='')}/runs" if record.thread_id is not None else "/runs"
    return {"Content-Location": f"{base}/{record.run_id}", "Location": f"{base}/{record.run_id}/stream"}


def run_json(record: RunRecord) -> dict[str, Any]:
    """Return a run as LangGraph's servers show it."""
    return {
        "run_id": record.run_id,
        "thread_id": record.thread_id,
        "assistant_id": record.request["assistant_id"],
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
        "status": record.status,
        "metadata": {"attempt": record.attempt},
        "kwargs": {},
        "multitask_strategy": "enqueue",
    }
