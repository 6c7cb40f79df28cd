"""The services that routes use; each server opens one set when it starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from anyio import CancelScope
from fastapi import Depends, HTTPException, Request
from filelock import FileLock, Timeout
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from sqlalchemy.exc import IntegrityError

from anabranch.agent.graph.answer import build as build_answer
from anabranch.agent.graph.ingest import build as build_ingest
from anabranch.agent.graph.telemetry import RunSpans
from anabranch.agent.nodes.settings import Context
from anabranch.errors import OperationError, SettingsError, UserError
from anabranch_server.checkpoints import open_checkpoints
from anabranch_server.database import folder_at, is_postgres, open_database, private_file
from anabranch_server.event_log import EventLog
from anabranch_server.feedback import FeedbackBook
from anabranch_server.requester import Requester
from anabranch_server.run_queue import RunQueue, RunRecord
from anabranch_server.run_request import RunRequest
from anabranch_server.run_telemetry import count_accepted
from anabranch_server.run_worker import CONCURRENT, Graphs, RunWorker
from anabranch_server.thread_records import ThreadRecord, Threads
from anabranch_server.usage_limits import UsageLimits
from anabranch_server.write_probe import WriteProbe

LOCK = "server.lock"

CLIENT_GONE = 499
"""The status that proxies log for a client that disconnected."""

GRACE = 20.0
"""Seconds that runs have to end when the server is stopped."""


class NotFoundError(UserError):
    """The thing does not exist, or belongs to somebody else."""

    code = "not_found"

    def __init__(self, what: str, key: str) -> None:
        """Take the kind of thing, and the id that was asked for."""
        super().__init__(f"There is no {what} {key!r}.", hint="It may have been removed.")


@dataclass(frozen=True, slots=True)
class Services:
    """The graphs, the database's tables, and the worker of the runs."""

    graphs: Graphs
    saver: BaseCheckpointSaver[Any]
    threads: Threads
    runs: RunQueue
    events: EventLog
    worker: RunWorker
    feedback: FeedbackBook
    limits: UsageLimits
    probe: WriteProbe

    async def accept(self, caller: Requester, request: RunRequest, thread_id: str | None) -> RunRecord:
        """Accept a run, and have it begun at once where a worker of this process is free.

        Raises:
            LimitReachedError: The caller has reached a limit.
            NotFoundError: The thread has been removed.
        """
        await self.count(caller, request)
        return await self.add(caller, request, thread_id)

    async def count(self, caller: Requester, request: RunRequest, *, is_thread: bool = False) -> None:
        """Count a run that is going to be accepted, and perhaps a thread for it.

        Raises:
            LimitReachedError: The caller has reached a limit, or the most that they may store.
        """
        await self.limits.refuse_full(caller, is_thread=is_thread)
        await self.limits.begin(caller, is_question=request.assistant_id == "answer")

    async def add(self, caller: Requester, request: RunRequest, thread_id: str | None) -> RunRecord:
        """Accept a run that has been counted.

        Raises:
            NotFoundError: The thread has been removed.
        """
        user = caller.user.model_dump(mode="json") if caller.user is not None else None
        asked = {**request.model_dump(mode="json"), "origin": count_accepted(request.assistant_id)}
        try:
            run = await self.runs.add(caller.owner, asked, thread_id=thread_id, user=user)
        except IntegrityError as error:
            # The thread was removed since it was looked up.
            raise NotFoundError("thread", str(thread_id)) from error
        self.worker.wake()
        return run

    async def new_thread(
        self, owner: str, thread_id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> ThreadRecord:
        """Make an empty thread: delete the checkpoints that an earlier one of its id left.

        Raises:
            SettingsError: Its id is taken or too long, or its metadata are.
        """
        if thread_id is not None:
            await self.threads.refuse_taken(thread_id)
            await self.saver.adelete_thread(thread_id)
        return await self.threads.add(owner, thread_id, metadata)

    async def find_checkpoint(self, thread_id: str | None, checkpoint_id: str) -> str:
        """Return the id of a checkpoint, once it was found in the thread.

        Raises:
            NotFoundError: There is no thread, or it has no such checkpoint.
        """
        named = {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": checkpoint_id}
        if thread_id is None or await self.saver.aget_tuple({"configurable": named}) is None:
            raise NotFoundError("checkpoint", checkpoint_id)
        return checkpoint_id

    @asynccontextmanager
    async def cancel_on_disconnect(self, run: RunRecord) -> AsyncIterator[None]:
        """Cancel a run whose client disconnects while reading it."""
        try:
            yield
        except BaseException:
            # A disconnect cancels everything that is awaited here, so the cancel itself needs a shield.
            with CancelScope(shield=True):
                await self.worker.cancel(run)
            raise

    async def wait_for_run(self, run: RunRecord, request: Request) -> None:
        """Wait until a run is over; cancel it if the client disconnects first.

        Raises:
            HTTPException: The client has disconnected.
        """
        ended, left = (
            asyncio.ensure_future(self.events.wait_for_end(run.run_id)),
            asyncio.ensure_future(_wait_for_disconnect(request)),
        )
        try:
            async with self.cancel_on_disconnect(run):
                await asyncio.wait({ended, left}, return_when=asyncio.FIRST_COMPLETED)
                if not ended.done():
                    raise HTTPException(CLIENT_GONE, "The client has disconnected.")
                ended.result()
        finally:
            ended.cancel()
            left.cancel()

    async def read_outcome(self, run: RunRecord) -> dict[str, Any]:
        """Return the `values` or the `error` of a finished run that has no thread."""
        record = await self.runs.get(run.run_id)
        left = (record.result if record is not None else None) or {
            "error": {"error": OperationError.__name__, "message": "The run was stopped."}
        }
        if "__interrupt__" in left.get("values", {}):
            msg = (
                "`review` needs a client that can resume a run; this endpoint cannot. Set review=none or use /threads."
            )
            return {"error": {"error": SettingsError.__name__, "message": msg}}
        return left

    @property
    def answer(self) -> CompiledStateGraph[Any, Context, Any, Any]:
        """The graph whose state the threads hold."""
        return self.graphs["answer"]


@asynccontextmanager
async def open_services(place: str, *, concurrent: int = CONCURRENT, grace: float = GRACE) -> AsyncIterator[Services]:
    """Open a server's data and start its worker; on exit, let runs end before the database closes.

    Args:
        place: A folder, or the address of a PostgreSQL database.
        concurrent: Most runs at the same time.
        grace: Seconds that runs have to end.

    Raises:
        UserError: The place cannot be used as configured.
        OperationError: The database cannot be used.
    """
    async with AsyncExitStack() as stack:
        if not is_postgres(place):
            stack.enter_context(_lock_folder(place))
        engine = await stack.enter_async_context(open_database(place))
        saver = await stack.enter_async_context(open_checkpoints(place))
        graphs: Graphs = {
            "answer": _with_callbacks("answer", build_answer().compile(checkpointer=saver, name="answer")),
            "ingest": _with_callbacks("ingest", build_ingest().compile(checkpointer=saver, name="ingest")),
        }
        threads, runs = Threads(engine), RunQueue(engine)
        if not is_postgres(place):
            # This server has the folder alone, so runs marked as running were left by a killed one.
            await runs.release()
        probe = WriteProbe(engine, None if is_postgres(place) else folder_at(place))
        events = EventLog(engine, runs, probe)
        limits = UsageLimits(engine)
        worker = RunWorker(graphs, saver, runs, threads, events, limits, concurrent=concurrent)
        await worker.start()
        try:
            yield Services(graphs, saver, threads, runs, events, worker, FeedbackBook(engine), limits, probe)
        finally:
            await worker.stop(grace)


def _with_callbacks(name: str, graph: CompiledStateGraph[Any, Any, Any, Any]) -> CompiledStateGraph[Any, Any, Any, Any]:
    return graph.with_config(callbacks=[RunSpans(name)])


@contextmanager
def _lock_folder(place: str) -> Iterator[None]:
    """Lock a folder for this server: two would not see each other's events until they are written."""
    folder = folder_at(place)
    private_file(folder / LOCK)
    try:
        with FileLock(folder / LOCK, timeout=0, is_singleton=False):
            yield
    except Timeout as error:
        msg = f"Another server is using {folder}."
        raise SettingsError(msg, hint="Stop it, or choose another place with --data.") from error


async def _wait_for_disconnect(request: Request) -> None:
    """Wait until the client disconnects; its request has been read, so no other message comes."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def get_services(request: Request) -> Services:
    """Return the services of the server that a request reached."""
    found: Services = request.app.state.services
    return found


Serving = Annotated[Services, Depends(get_services)]
