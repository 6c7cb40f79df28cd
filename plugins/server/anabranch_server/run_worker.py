"""Works on runs: claims them, streams the graph's output into the event log, and stores their results."""

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

from anabranch.agent.graph.state_validation import check_resumption
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE
from anabranch.errors import AnabranchError
from anabranch.models.usage import Meter, billed
from anabranch.safety.operator import operator
from anabranch_server.checkpoints import Written, measure_writes
from anabranch_server.database import now
from anabranch_server.event_log import FLUSH, EventLog
from anabranch_server.json_values import as_json
from anabranch_server.message_events import MessageEvents
from anabranch_server.run_queue import LEASE, RunQueue, RunRecord, RunStatus
from anabranch_server.run_request import RunRequest
from anabranch_server.run_resumption import belongs_to, config_of, last_checkpoint, refuse_hopeless
from anabranch_server.run_telemetry import RunTelemetry, set_waiting
from anabranch_server.state_size import refuse_large
from anabranch_server.thread_expiry import DAY, remove_idle
from anabranch_server.thread_records import Threads
from anabranch_server.usage_limits import UsageLimits
from anabranch_server.write_probe import DATABASE_ERRORS, storage_error

log = logging.getLogger("anabranch.server")

Graphs = Mapping[str, CompiledStateGraph[Any, Context, Any, Any]]

LOOK = 1.0
"""Seconds between queries for runs that other processes accepted; one accepted here begins at once."""

CONCURRENT = 16
"""Most runs at a time in a process; a run mostly waits for its model."""

KEPT = 3600.0
"""Seconds for which a finished run and its events are kept."""

SWEEP = 300.0


class RunWorker:
    """Works on the runs of a database, alongside workers in other processes."""

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
        """Take the graphs by name, and the stores of runs and their results."""
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
        """Claim nothing new, give runs `grace` seconds to end, and leave the rest to other workers.

        A second call waits for the first.
        """
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._drain(grace))
        await self._stopping

    async def _drain(self, grace: float) -> None:
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
        """Look for runs now, because one was accepted here."""
        self._wake.set()

    async def cancel(self, record: RunRecord) -> None:
        """Stop a run: here at once, or within seconds at the worker that holds it."""
        await self._runs.cancel(record)
        self._stop(record.run_id)

    def _stop(self, run_id: str) -> None:
        # Not while its end is being stored: the run would look unfinished, and be taken over.
        if (task := self._tasks.get(run_id)) is not None and run_id not in self._ending:
            task.cancel()

    @property
    def running(self) -> int:
        """How many runs this process works on."""
        return len(self._tasks)

    async def _repeat(self, job: Callable[[], Awaitable[None]], every: float) -> None:
        while True:
            try:
                await job()
            except SQLAlchemyError as error:
                # The database may be restarting.
                log.warning("The server's database does not answer: %s", type(error).__name__)
                await asyncio.sleep(LOOK)
            except Exception:  # the loop must not stop, or no run would begin any more
                log.exception("The worker continues after an error")
                await asyncio.sleep(LOOK)
            await asyncio.sleep(every)

    async def _take(self) -> None:
        free = self._concurrent - len(self._tasks)
        if free > 0 and not self._is_stopping:
            for record in await self._runs.claim(self.name, free, excluded=self._tasks):
                task = asyncio.create_task(self._work(record))
                self._tasks[record.run_id] = task
                task.add_done_callback(partial(self._forget, record.run_id))
        # Not `wait_for`: before Python 3.12 it can lose a cancellation.
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK):
                await self._wake.wait()
        self._wake.clear()

    def _forget(self, run_id: str, _: asyncio.Task[None]) -> None:
        self._tasks.pop(run_id, None)
        self._ending.discard(run_id)
        self.wake()

    async def _hold(self) -> None:
        held = dict(self._tasks)
        mine = await self._runs.extend(self.name, held)
        for run_id in held:
            if run_id not in mine:
                self._stop(run_id)
        set_waiting(await self._runs.count_waiting())

    async def _sweep(self) -> None:
        await self._runs.remove_ended(now() - KEPT)
        if (days := operator().thread_days) is not None:
            await remove_idle(self._threads, self._saver, now() - days * DAY)

    async def _work(self, record: RunRecord) -> None:
        telemetry = RunTelemetry(record)
        try:
            with measure_writes() as written:
                await self._run_to_end(record, telemetry, written)
        finally:
            telemetry.close()

    async def _run_to_end(self, record: RunRecord, telemetry: RunTelemetry, written: Written) -> None:
        """Work on one run to its end; an error becomes its result, and affects no other run."""
        self._events.begin(record.run_id, record.attempt)
        status: RunStatus = "error"
        result: dict[str, Any] | None = None
        bill = Meter()
        try:
            with billed() as bill:
                status, result = await self._stream(record, telemetry)
        except asyncio.CancelledError:
            if self._is_stopping:
                # Another worker goes on with it; `stop` releases its lease.
                await self._events.end(record.run_id)
                await self._note_use(record, written)
                raise
            status, result = "interrupted", None
        except AnabranchError as error:
            result = _failure(error)
        except DATABASE_ERRORS:
            log.exception("A run could not be stored")
            result = _failure(storage_error())
        except Exception as error:  # a run may fail in any way, and the server goes on
            log.exception("A run failed")
            result = {
                "error": {"error": type(error).__name__, "message": "The run failed; the server's log has the reason."}
            }
        self._ending.add(record.run_id)
        if result is not None and "error" in result:
            self._events.put(record.run_id, "error", as_json(result["error"]))
        telemetry.note_end(status, result)
        try:
            # Runs that failed or were stopped count, too.
            await self._limits.spend(record.user, bill.prompt_tokens + bill.output_tokens)
        finally:
            size = self._events.size(record.run_id)
            note = partial(self._runs.finish, record, self.name, status, result, size=size)
            await self._events.end(record.run_id, note)
        if not await self._note_use(record, written):
            # The run had no thread, or was removed with it: delete the checkpoints that its last step left.
            await self._saver.adelete_thread(record.state_id)

    async def _note_use(self, record: RunRecord, written: Written) -> bool:
        return record.thread_id is not None and await self._threads.touch(record.thread_id, written.size, record.run_id)

    async def _stream(self, record: RunRecord, telemetry: RunTelemetry) -> tuple[RunStatus, dict[str, Any]]:
        """Stream a run's graph into the event log; return its status and result."""
        request = RunRequest.model_validate(record.request)
        graph = self._graphs[request.assistant_id]
        self._events.put(record.run_id, "metadata", as_json({"run_id": record.run_id, "attempt": record.attempt}))
        is_again = record.attempt > 1
        snapshot = await graph.aget_state({"configurable": {"thread_id": record.state_id}}, subgraphs=is_again)
        has_begun = is_again and belongs_to(snapshot, record)
        if is_again:
            refuse_hopeless(await self._runs.record_progress(record, last_checkpoint(snapshot) if has_begun else ""))
        if not has_begun:
            await refuse_large(snapshot.values)
        config = config_of(record, request, has_begun=has_begun)
        graph_input = None if has_begun else request.graph_input()
        if not isinstance(graph_input, dict):
            check_resumption(await graph.aget_state(config), graph_input and graph_input.resume)
        values: Any = snapshot.values
        messages = MessageEvents(is_whole=request.has_whole_messages)
        has_text = False
        # A run whose steps had all ended has none left; its state is streamed all the same.
        stream = graph.astream(
            graph_input,
            config,
            context=request.graph_context(),
            stream_mode=request.modes(),
            subgraphs=True,
            # Without the texts of passages: each reader gets from the corpus those that they may read.
            output_keys=VISIBLE if request.assistant_id == "answer" else None,
            # Checkpoints are written before the next step, so that a resumed run repeats no finished model call.
            durability="sync",
        )
        try:
            async for place, mode, payload in stream:
                telemetry.note_output(mode)
                if mode == "values" and not place:
                    values = payload
                has_text = has_text or mode == "messages"
                if (name := request.event_name(mode, place)) is not None:
                    self._put(record, messages.convert(name, payload))
            if has_begun and not has_text:
                self._repeat_answer(record, request, values, messages)
        finally:
            self._put(record, messages.flush())
        interrupts = values.get("__interrupt__") if isinstance(values, Mapping) else None
        return ("interrupted" if interrupts else "success"), {"values": json.loads(as_json(values))}

    def _put(self, record: RunRecord, messages: Iterable[tuple[str, Any]]) -> None:
        for name, payload in messages:
            self._events.put(record.run_id, name, as_json(payload))

    def _repeat_answer(
        self, record: RunRecord, request: RunRequest, values: Mapping[str, Any], messages: MessageEvents
    ) -> None:
        """Send the whole answer of an earlier attempt, because a kill may have lost some of its words."""
        for message in values.get("messages", [])[-1:]:
            if message.type == "ai" and (name := request.event_name("messages", ())) is not None:
                # As a piece, like those before it, which every reader of a stream joins.
                piece = AIMessageChunk(content=message.text, id=message.id)
                self._put(record, messages.convert(name, (piece, {})))


def _failure(error: AnabranchError) -> dict[str, Any]:
    return {"error": {"error": type(error).__name__, "message": str(error)}}
