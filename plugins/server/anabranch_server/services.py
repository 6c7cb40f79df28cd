"""What the routes work with: one set for each server, made when it starts."""

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
from anabranch.agent.graph.telemetry import run_callbacks
from anabranch.agent.nodes.settings import Context
from anabranch.errors import OperationError, SettingsError, UserError
from anabranch_server.checkpoints import open_checkpoints
from anabranch_server.database import folder_at, is_postgres, open_database, private_file
from anabranch_server.event_log import EventLog
from anabranch_server.feedback import FeedbackBook
from anabranch_server.requester import Requester
from anabranch_server.run_queue import RunQueue, RunRecord
from anabranch_server.run_request import RunRequest
from anabranch_server.run_telemetry import accepted
from anabranch_server.run_worker import CONCURRENT, Graphs, RunWorker
from anabranch_server.thread_records import ThreadRecord, Threads
from anabranch_server.usage_limits import UsageLimits
from anabranch_server.write_probe import WriteProbe

LOCK = "server.lock"

CLIENT_GONE = 499
"""The status that proxies log for it; nobody is there to read it."""

GRACE = 20.0
"""Seconds that what runs has to end when the server is stopped."""


class NotFoundError(UserError):
    """There is no such thing, or it is not yours."""

    code = "not_found"

    def __init__(self, what: str, key: str) -> None:
        """Say what there is none of."""
        super().__init__(f"There is no {what} {key!r}.", hint="It may have been removed.")


@dataclass(frozen=True, slots=True)
class Services:
    """The graphs, the database's nouns, and who works on the runs."""

    graphs: Graphs
    saver: BaseCheckpointSaver[Any]
    threads: Threads
    runs: RunQueue
    events: EventLog
    worker: RunWorker
    feedback: FeedbackBook
    limits: UsageLimits
    probe: WriteProbe

    async def accept(self, who: Requester, request: RunRequest, thread_id: str | None) -> RunRecord:
        """Accept a run, and have it begun at once where a worker of this process is free.

        Raises:
            LimitReachedError: Who asks has used up what they may.
            NotFoundError: The thread has been removed.
        """
        await self.count(who, request)
        return await self.add(who, request, thread_id)

    async def count(self, who: Requester, request: RunRequest, *, is_thread: bool = False) -> None:
        """Count a run that is going to be accepted, and perhaps a thread for it.

        Raises:
            LimitReachedError: Who asks has used up what they may, or keeps as much as they may.
        """
        await self.limits.keep(who, is_thread=is_thread)
        await self.limits.begin(who, is_question=request.assistant_id == "answer")

    async def add(self, who: Requester, request: RunRequest, thread_id: str | None) -> RunRecord:
        """Accept a run that has been counted.

        Raises:
            NotFoundError: The thread has been removed.
        """
        user = who.user.model_dump(mode="json") if who.user is not None else None
        asked = {**request.model_dump(mode="json"), "origin": accepted(request.assistant_id)}
        try:
            run = await self.runs.add(who.owner, asked, thread_id=thread_id, user=user)
        except IntegrityError as error:
            # Removed since it was looked for.
            raise NotFoundError("thread", str(thread_id)) from error
        self.worker.wake()
        return run

    async def new_thread(
        self, owner: str, thread_id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> ThreadRecord:
        """Make a thread, in which there is nothing that was kept under its id before.

        Raises:
            SettingsError: Its id is taken or too long, or its metadata are.
        """
        if thread_id is not None:
            await self.threads.refuse_taken(thread_id)
            await self.saver.adelete_thread(thread_id)
        return await self.threads.add(owner, thread_id, metadata)

    async def checkpoint_of(self, thread_id: str | None, checkpoint_id: str) -> str:
        """Return the id of a thread's checkpoint; nothing without a thread has one.

        Raises:
            NotFoundError: The thread has none of this id.
        """
        named = {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": checkpoint_id}
        if thread_id is None or await self.saver.aget_tuple({"configurable": named}) is None:
            raise NotFoundError("checkpoint", checkpoint_id)
        return checkpoint_id

    @asynccontextmanager
    async def stopped_when_left(self, run: RunRecord) -> AsyncIterator[None]:
        """Stop a run whose reader goes away while it is being read."""
        try:
            yield
        except BaseException:
            # Of a reader that is gone everything that is awaited is cancelled, this as well.
            with CancelScope(shield=True):
                await self.worker.cancel(run)
            raise

    async def over(self, run: RunRecord, request: Request) -> None:
        """Wait until a run is over, as long as whoever asked does; then it is stopped.

        Raises:
            HTTPException: They have gone away.
        """
        over, left = asyncio.ensure_future(self.events.over(run.run_id)), asyncio.ensure_future(_gone(request))
        try:
            async with self.stopped_when_left(run):
                await asyncio.wait({over, left}, return_when=asyncio.FIRST_COMPLETED)
                if not over.done():
                    raise HTTPException(CLIENT_GONE, "Whoever asked has gone away.")
                over.result()
        finally:
            over.cancel()
            left.cancel()

    async def outcome(self, run: RunRecord) -> dict[str, Any]:
        """Return what a run without a thread, which is over, left: `values` or `error`."""
        record = await self.runs.get(run.run_id)
        left = (record.result if record is not None else None) or {
            "error": {"error": OperationError.__name__, "message": "The run was stopped."}
        }
        if "__interrupt__" in left.get("values", {}):
            msg = "The setting `review` pauses a question for a person, and this way of asking cannot go on with it."
            return {"error": {"error": SettingsError.__name__, "message": msg}}
        return left

    @property
    def answer(self) -> CompiledStateGraph[Any, Context, Any, Any]:
        """The graph whose state the threads hold."""
        return self.graphs["answer"]


@asynccontextmanager
async def open_services(place: str, *, concurrent: int = CONCURRENT, grace: float = GRACE) -> AsyncIterator[Services]:
    """Open a server's data, begin to work, and let what runs end before it closes.

    Args:
        place: A folder, or the address of a PostgreSQL database.
        concurrent: Runs at once.
        grace: Seconds that they have to end.

    Raises:
        UserError: The place cannot be used as configured.
        OperationError: The database cannot be used.
    """
    async with AsyncExitStack() as stack:
        if not is_postgres(place):
            stack.enter_context(_alone(place))
        engine = await stack.enter_async_context(open_database(place))
        saver = await stack.enter_async_context(open_checkpoints(place))
        graphs: Graphs = {
            "answer": _followed("answer", build_answer().compile(checkpointer=saver, name="answer")),
            "ingest": _followed("ingest", build_ingest().compile(checkpointer=saver, name="ingest")),
        }
        threads, runs = Threads(engine), RunQueue(engine)
        if not is_postgres(place):
            # Nobody else works in this folder: what is said to be running was left behind, and need not be waited for.
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


def _followed(name: str, graph: CompiledStateGraph[Any, Any, Any, Any]) -> CompiledStateGraph[Any, Any, Any, Any]:
    return graph.with_config(callbacks=run_callbacks(name))


@contextmanager
def _alone(place: str) -> Iterator[None]:
    """Hold a folder for this server alone: two would not see each other's words until they are written."""
    folder = folder_at(place)
    private_file(folder / LOCK)
    try:
        with FileLock(folder / LOCK, timeout=0, is_singleton=False):
            yield
    except Timeout as error:
        msg = f"Another server keeps its conversations in {folder}."
        raise SettingsError(msg, hint="Stop it, or give another place: --data.") from error


async def _gone(request: Request) -> None:
    """Wait until the client has gone away: its request has been read, and nothing else comes."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def services(request: Request) -> Services:
    """Return the services of the server that a request reached."""
    found: Services = request.app.state.services
    return found


Serving = Annotated[Services, Depends(services)]
