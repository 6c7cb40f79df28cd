"""Works on runs: takes them from the database, streams the graph into the log, and notes how they ended."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessageChunk
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from sqlalchemy.exc import SQLAlchemyError

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE
from anabranch.errors import AnabranchError
from anabranch.models.usage import Meter, billed
from anabranch_server.checkpoints import Written, measured
from anabranch_server.database import now
from anabranch_server.event_log import FLUSH, EventLog
from anabranch_server.json_values import as_json
from anabranch_server.message_events import MessageEvents
from anabranch_server.run_queue import LEASE, RunQueue, RunRecord, RunStatus
from anabranch_server.run_request import RunRequest
from anabranch_server.run_resumption import config_of, is_of, reached, refuse_hopeless
from anabranch_server.run_telemetry import RunTelemetry, set_waiting
from anabranch_server.state_size import refuse_large
from anabranch_server.thread_records import Threads
from anabranch_server.usage_limits import UsageLimits
from anabranch_server.write_probe import DATABASE_ERRORS, not_kept

log = logging.getLogger("anabranch.server")

Graphs = Mapping[str, CompiledStateGraph[Any, Context, Any, Any]]

LOOK = 1.0
"""Seconds between looks for runs that another process accepted, or left behind; one accepted here is begun at once."""

CONCURRENT = 16
"""Runs at once in a process: a run mostly waits for its model."""

KEPT = 3600.0
"""Seconds for which the events of a run that has ended can be read again."""

SWEEP = 300.0


class RunWorker:
    """Works on the runs of one database, beside other workers in other processes."""

    def __init__(
        self,
        graphs: Graphs,
        saver: BaseCheckpointSaver[Any],
        runs: RunQueue,
        threads: Threads,
        events: EventLog,
        limits: UsageLimits,
        *,
        concurrent: int = CONCURRENT,
    ) -> None:
        """Take the graphs by the names that requests use, and where what the runs leave is kept."""
        self.name = str(uuid4())
        self._graphs = graphs
        self._saver = saver
        self._runs = runs
        self._threads = threads
        self._events = events
        self._limits = limits
        self._concurrent = concurrent
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ending: set[str] = set()
        self._own: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()
        self._is_stopping = False
        self._stopping: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to work."""
        regular = {self._take: 0.0, self._hold: LEASE / 4, self._events.write: FLUSH, self._sweep: SWEEP}
        self._own = [asyncio.create_task(self._repeat(each, every)) for each, every in regular.items()]

    async def stop(self, grace: float) -> None:
        """Take nothing new, let what runs end for so many seconds, and leave the rest to whoever looks next.

        To stop again is to wait for the end of that.
        """
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stopped(grace))
        await self._stopping

    async def _stopped(self, grace: float) -> None:
        self._is_stopping = True
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=grace)
        for run_id in self._tasks:
            self._stop(run_id)
        for task in self._own:
            task.cancel()
        await asyncio.gather(*self._tasks.values(), *self._own, return_exceptions=True)
        await self._runs.hand_over(self.name)

    def wake(self) -> None:
        """Look for work now: something was accepted here."""
        self._wake.set()

    async def cancel(self, record: RunRecord) -> None:
        """Stop a run, here or, within seconds, at the worker that has it."""
        await self._runs.cancel(record)
        self._stop(record.run_id)

    def _stop(self, run_id: str) -> None:
        # Not while it is noted how the run ended: it would seem to go on, and be taken over.
        if (task := self._tasks.get(run_id)) is not None and run_id not in self._ending:
            task.cancel()

    @property
    def running(self) -> int:
        """How many runs this process works on."""
        return len(self._tasks)

    async def _repeat(self, what: Callable[[], Awaitable[None]], every: float) -> None:
        while True:
            try:
                await what()
            except SQLAlchemyError as error:
                # A database that restarts is waited for.
                log.warning("The server's database does not answer: %s", type(error).__name__)
                await asyncio.sleep(LOOK)
            except Exception:  # what goes round must not stop: no run would be begun any more
                log.exception("The server's work goes on after an error")
                await asyncio.sleep(LOOK)
            await asyncio.sleep(every)

    async def _take(self) -> None:
        free = self._concurrent - len(self._tasks)
        if free > 0 and not self._is_stopping:
            for record in await self._runs.claim(self.name, free, besides=self._tasks):
                task = asyncio.create_task(self._work(record))
                self._tasks[record.run_id] = task
                task.add_done_callback(partial(self._ended, record.run_id))
        # Not `wait_for`: before Python 3.12 it loses a cancellation that comes as what it waits for does.
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK):
                await self._wake.wait()
        self._wake.clear()

    def _ended(self, run_id: str, _: asyncio.Task[None]) -> None:
        self._tasks.pop(run_id, None)
        self._ending.discard(run_id)
        self.wake()

    async def _hold(self) -> None:
        held = dict(self._tasks)
        mine = await self._runs.extend(self.name, held)
        for run_id in held:
            if run_id not in mine:
                self._stop(run_id)
        set_waiting(await self._runs.waiting())

    async def _sweep(self) -> None:
        await self._runs.remove_ended(now() - KEPT)

    async def _work(self, record: RunRecord) -> None:
        telemetry = RunTelemetry(record)
        try:
            with measured() as written:
                await self._worked(record, telemetry, written)
        finally:
            telemetry.close()

    async def _worked(self, record: RunRecord, telemetry: RunTelemetry, written: Written) -> None:
        """Work on one run to its end; what goes wrong with it is its result, and nobody else's."""
        self._events.begin(record.run_id, record.attempt)
        status: RunStatus = "error"
        result: dict[str, Any] | None = None
        bill = Meter()
        try:
            with billed() as bill:
                status, result = await self._streamed(record, telemetry)
        except asyncio.CancelledError:
            if self._is_stopping:
                # Not ended: the next worker goes on with it. Its lease is let go by `stop`.
                await self._events.end(record.run_id)
                await self._note_use(record, written)
                raise
            status, result = "interrupted", None
        except AnabranchError as error:
            result = _failure(error)
        except DATABASE_ERRORS:
            log.exception("A run could not be kept")
            result = _failure(not_kept())
        except Exception as error:  # any run may fail in any way, and the server goes on
            log.exception("A run failed")
            result = {"error": {"error": type(error).__name__, "message": "The run failed; the server's log says why."}}
        self._ending.add(record.run_id)
        if result is not None and "error" in result:
            self._events.put(record.run_id, "error", as_json(result["error"]))
        telemetry.ended(status, result)
        try:
            # Also of a run that failed or was stopped.
            await self._limits.spend(record.user, bill.prompt_tokens + bill.output_tokens)
        finally:
            spoken = self._events.spoken(record.run_id)
            note = partial(self._runs.finish, record, self.name, status, result, spoken=spoken)
            await self._events.end(record.run_id, note)
        if record.thread_id is None or await self._runs.get(record.run_id) is None:
            # It had no thread, or was removed with it; a step that was going on has left a checkpoint since.
            await self._saver.adelete_thread(record.state_id)
        else:
            await self._note_use(record, written)

    async def _note_use(self, record: RunRecord, written: Written) -> None:
        if record.thread_id is not None:
            await self._threads.touch(record.thread_id, written.size)

    async def _streamed(self, record: RunRecord, telemetry: RunTelemetry) -> tuple[RunStatus, dict[str, Any]]:
        """Stream a run's graph into the log; return how it ended."""
        request = RunRequest.model_validate(record.request)
        graph = self._graphs[request.assistant_id]
        self._events.put(record.run_id, "metadata", as_json({"run_id": record.run_id, "attempt": record.attempt}))
        is_again = record.attempt > 1
        snapshot = await graph.aget_state({"configurable": {"thread_id": record.state_id}}, subgraphs=is_again)
        has_begun = is_again and is_of(snapshot, record)
        if is_again:
            refuse_hopeless(await self._runs.got_on(record, reached(snapshot) if has_begun else ""))
        if not has_begun:
            await refuse_large(snapshot.values)
        config = config_of(record, request, has_begun=has_begun)
        values: Any = snapshot.values
        messages = MessageEvents(is_whole=request.has_whole_messages)
        is_said = False
        # A run that had ended when its process did has no step left; its state is streamed all the same.
        stream = graph.astream(
            None if has_begun else request.given(),
            config,
            context=request.context_given(),
            stream_mode=request.modes(),
            subgraphs=True,
            # Not the passages' texts: they are in the corpus, and each reader gets those that they may read.
            output_keys=VISIBLE if request.assistant_id == "answer" else None,
            # Written before the next step begins, so that a run that is taken over repeats no finished model call.
            durability="sync",
        )
        try:
            async for place, mode, payload in stream:
                telemetry.said(mode)
                if mode == "values" and not place:
                    values = payload
                is_said = is_said or mode == "messages"
                if (name := request.event_name(mode, place)) is not None:
                    self._put(record, messages.of(name, payload))
            if has_begun and not is_said:
                self._say_again(record, request, values, messages)
        finally:
            self._put(record, messages.rest())
        interrupts = values.get("__interrupt__") if isinstance(values, Mapping) else None
        return ("interrupted" if interrupts else "success"), {"values": json.loads(as_json(values))}

    def _put(self, record: RunRecord, said: Iterable[tuple[str, Any]]) -> None:
        for name, payload in said:
            self._events.put(record.run_id, name, as_json(payload))

    def _say_again(
        self, record: RunRecord, request: RunRequest, values: Mapping[str, Any], messages: MessageEvents
    ) -> None:
        """Say an answer whole that an attempt before has made: not all of its words were written when it was killed."""
        for message in values.get("messages", [])[-1:]:
            if message.type == "ai" and (name := request.event_name("messages", ())) is not None:
                # As a piece like those before it: plain words, which every reader of a stream joins.
                piece = AIMessageChunk(content=message.text, id=message.id)
                self._put(record, messages.of(name, (piece, {})))


def _failure(error: AnabranchError) -> dict[str, Any]:
    return {"error": {"error": type(error).__name__, "message": str(error)}}
