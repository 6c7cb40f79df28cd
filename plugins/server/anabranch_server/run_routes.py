"""Runs over HTTP, under the paths and in the form of LangGraph's servers."""

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
from anabranch_server.request_values import messages_of
from anabranch_server.requester import Asker, Requester
from anabranch_server.run_queue import RunRecord
from anabranch_server.run_request import RunRequest
from anabranch_server.services import NotFoundError, Services, Serving
from anabranch_server.thread_json import iso
from anabranch_server.thread_routes import thread_of

router = APIRouter(tags=["runs"])


TITLE = 80
"""Characters of the first question that a thread is called by."""

# More digits than the number of an event has, no database compares.
LastEvent = Annotated[str | None, Header(max_length=18)]


@router.post("/threads/{thread_id}/runs")
async def create(thread_id: str, body: RunRequest, who: Asker, of: Serving) -> JSONResponse:
    """Accept a run; it goes on whether or not anybody reads."""
    record = await accepted(of, who, body, thread_id)
    return JSONResponse(run_json(record), headers=_places(record))


@router.post("/threads/{thread_id}/runs/stream")
async def stream(thread_id: str, body: RunRequest, who: Asker, of: Serving) -> StreamingResponse:
    """Accept a run, and stream what it says."""
    return _streamed(of, await accepted(of, who, body, thread_id), body, 0)


@router.post("/threads/{thread_id}/runs/wait")
async def wait(thread_id: str, body: RunRequest, who: Asker, of: Serving, request: Request) -> Response:
    """Accept a run, and return what it left."""
    return await _waited(of, await accepted(of, who, body, thread_id), body, request)


@router.post("/runs/stream")
async def stream_alone(body: RunRequest, who: Asker, of: Serving) -> StreamingResponse:
    """Stream a run without a thread: nothing of it is kept."""
    return _streamed(of, await accepted(of, who, body, None), body, 0)


@router.post("/runs/wait")
async def wait_alone(body: RunRequest, who: Asker, of: Serving, request: Request) -> Response:
    """Return what a run without a thread left."""
    return await _waited(of, await accepted(of, who, body, None), body, request)


@router.get("/threads/{thread_id}/runs")
async def listed(
    thread_id: str, who: Asker, of: Serving, limit: Annotated[int, Query(ge=1, le=1000)] = 10
) -> JSONResponse:
    """Return a thread's runs, the last one first."""
    await thread_of(of, who, thread_id)
    return JSONResponse([run_json(each) for each in await of.runs.of_thread(who.owner, thread_id, limit)])


@router.get("/threads/{thread_id}/runs/{run_id}")
async def get(thread_id: str, run_id: str, who: Asker, of: Serving) -> JSONResponse:
    """Return a run."""
    return JSONResponse(run_json(await _run_of(of, who, thread_id, run_id)))


@router.get("/threads/{thread_id}/runs/{run_id}/join")
async def join(thread_id: str, run_id: str, who: Asker, of: Serving) -> Response:
    """Wait for a run, and return what it left."""
    return await _left(of, await _run_of(of, who, thread_id, run_id))


@router.get("/threads/{thread_id}/runs/{run_id}/stream")
async def join_stream(
    thread_id: str, run_id: str, who: Asker, of: Serving, last_event_id: LastEvent = None
) -> StreamingResponse:
    """Read on where one stopped reading, by the id of the last event; from the start without one."""
    return _joined(of, await _run_of(of, who, thread_id, run_id), last_event_id)


@router.get("/runs/{run_id}/stream")
async def join_stream_alone(run_id: str, who: Asker, of: Serving, last_event_id: LastEvent = None) -> StreamingResponse:
    """Read on in a run without a thread."""
    return _joined(of, await _run_of(of, who, None, run_id), last_event_id)


@router.post("/threads/{thread_id}/runs/{run_id}/cancel", status_code=204)
async def cancel(thread_id: str, run_id: str, who: Asker, of: Serving, *, wait: bool = False) -> Response:
    """Stop a run; the thread keeps what the steps before left."""
    record = await _run_of(of, who, thread_id, run_id)
    await of.worker.cancel(record)
    if wait:
        await of.events.over(run_id)
    return Response(status_code=204)


@router.delete("/threads/{thread_id}/runs/{run_id}", status_code=204)
async def remove(thread_id: str, run_id: str, who: Asker, of: Serving) -> Response:
    """Stop a run, if it has not ended."""
    return await cancel(thread_id, run_id, who, of, wait=False)


async def accepted(of: Services, who: Requester, body: RunRequest, thread_id: str | None) -> RunRecord:
    """Accept a run of somebody's, in a thread of theirs.

    Raises:
        UserError: They may not, or there is no such thread.
    """
    body.check(list(of.graphs))
    who.require("ingest" if body.assistant_id == "ingest" else "ask")
    known = await of.threads.get(who.owner, thread_id) if thread_id is not None else None
    if thread_id is not None and known is None and body.if_not_exists == "reject":
        raise NotFoundError("thread", thread_id)
    if body.checkpoint_id is not None:
        await of.checkpoint_of(thread_id if known is not None else None, body.checkpoint_id)
    # Before anything is kept of a question: one that is refused leaves no thread, and no title.
    await of.count(who, body, is_thread=thread_id is not None and known is None)
    if thread_id is not None:
        record = known or await of.new_thread(who.owner, thread_id)
        if "title" not in record.metadata and (title := _title(body.input or {})):
            await of.threads.change(who.owner, thread_id, {"title": title, "graph_id": body.assistant_id})
    return await of.add(who, body, thread_id)


def _title(given: dict[str, Any]) -> str:
    text = given.get("question")
    if not text and given.get("messages"):
        text = messages_of(given["messages"])[-1].text
    return " ".join(text.split())[:TITLE] if isinstance(text, str) else ""


async def _run_of(of: Services, who: Requester, thread_id: str | None, run_id: str) -> RunRecord:
    record = await of.runs.get(run_id, who.owner)
    if record is None or record.thread_id != thread_id:
        raise NotFoundError("run", run_id)
    return record


async def _waited(of: Services, record: RunRecord, body: RunRequest, request: Request) -> Response:
    if body.on_disconnect == "cancel":
        await of.over(record, request)
    reply = await _left(of, record)
    reply.headers.update(_places(record))
    return reply


async def _left(of: Services, record: RunRecord) -> Response:
    await of.events.over(record.run_id)
    run = await of.runs.get(record.run_id)
    result = (run.result if run is not None else None) or {}
    # As LangGraph's servers do: a run that failed is a result too, and the client raises it.
    left = {"__error__": result["error"]} if "error" in result else result.get("values")
    # In a thread: a state may take tens of milliseconds to write.
    return await asyncio.to_thread(JSONResponse, left)


def _joined(of: Services, record: RunRecord, last_event_id: str | None) -> StreamingResponse:
    after = int(last_event_id) if last_event_id is not None and last_event_id.isdecimal() else 0
    return _streamed(of, record, RunRequest.model_validate({**record.request, "on_disconnect": "continue"}), after)


def _streamed(of: Services, record: RunRecord, body: RunRequest, after: int) -> StreamingResponse:
    async def lines() -> AsyncIterator[str]:
        async with of.stopped_when_left(record) if body.on_disconnect == "cancel" else nullcontext():
            try:
                async for event in of.events.read(record.run_id, after):
                    yield _line(event)
            except AnabranchError as error:
                # Its status has been sent; the client reads on from the last event that has a number.
                told = {"error": type(error).__name__, "message": str(error)}
                yield f"event: error\ndata: {as_json(told)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream", headers={**STREAM_HEADERS, **_places(record)})


def _line(event: RunEvent | None) -> str:
    if event is None:
        return ": waiting\n\n"
    return f"id: {event.number}\nevent: {event.name}\ndata: {event.data}\n\n"


def _places(record: RunRecord) -> dict[str, str]:
    """Return the headers by which a client knows its run, and where to read on."""
    # A header holds Latin-1 and no line breaks, and an id whatever its owner likes.
    of = f"/threads/{quote(record.thread_id, safe='')}/runs" if record.thread_id is not None else "/runs"
    return {"Content-Location": f"{of}/{record.run_id}", "Location": f"{of}/{record.run_id}/stream"}


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
