"""The queue of runs: their requests, their progress, and which worker holds them.

A worker holds a run by a lease and extends it while the run goes on. When a worker is killed its leases expire, and
another worker takes the run over. A claim is one conditional update, so of two workers only one succeeds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import uuid4

from sqlalchemy import and_, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncEngine

from anabranch_server.database import events, now, runs
from anabranch_server.json_values import as_json

RunStatus = Literal["pending", "running", "success", "error", "interrupted"]
UNFINISHED: tuple[RunStatus, ...] = ("pending", "running")

LEASE = 20.0
"""Seconds after which another worker may take over a run whose worker is silent."""

_before = runs.alias("before")

_DUE = or_(runs.c.status == "pending", and_(runs.c.status == "running", runs.c.leased_until < bindparam("time")))

# Made once: a worker asks this with each run and each second. A thread's runs go one after the other, because each
# begins with the state of the one before.
_CLAIMABLE = (
    select(runs)
    .where(
        _DUE,
        runs.c.run_id.not_in(bindparam("excluded", expanding=True)),
        ~select(_before.c.run_id)
        .where(
            _before.c.thread_id == runs.c.thread_id,
            _before.c.status.in_(UNFINISHED),
            or_(
                _before.c.created_at < runs.c.created_at,
                and_(_before.c.created_at == runs.c.created_at, _before.c.run_id < runs.c.run_id),
            ),
        )
        .exists(),
    )
    .order_by(runs.c.created_at)
    .limit(bindparam("most"))
)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run; times in seconds since 1970.

    Attributes:
        run_id: Its id.
        thread_id: Its thread; None for a run without one.
        owner: Name of its owner.
        user: The `User` as JSON; None where nobody has to authenticate.
        request: The request, unchanged.
        status: Its status.
        created_at: When it was accepted.
        updated_at: When its status last changed.
        attempt: How often a worker claimed it.
        reached: Its last checkpoint when it was taken over; empty where it had none.
        tries: How often it was begun from there without an end.
        worked: Seconds of work, without those of the present worker.
        cancelled: Whether it is to stop.
        result: Its `values` or `error`.
    """

    run_id: str
    thread_id: str | None
    owner: str
    user: dict[str, Any] | None
    request: dict[str, Any]
    status: RunStatus
    created_at: float
    updated_at: float
    attempt: int
    reached: str
    tries: int
    worked: float
    cancelled: bool
    result: dict[str, Any] | None

    @property
    def state_id(self) -> str:
        """Return the thread id of its checkpoints."""
        return self.thread_id or self.run_id


class RunQueue:
    """The runs of all owners and workers."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Take the database."""
        self._engine = engine

    async def add(
        self, owner: str, request: Mapping[str, Any], *, thread_id: str | None, user: Mapping[str, Any] | None
    ) -> RunRecord:
        """Add a run to the queue."""
        run_id, time = str(uuid4()), now()
        row = {
            "run_id": run_id,
            "thread_id": thread_id,
            "owner": owner,
            "user": dict(user) if user is not None else None,
            "request": dict(request),
            "status": "pending",
            "created_at": time,
            "updated_at": time,
            "attempt": 0,
            "reached": "",
            "tries": 0,
            "worked": 0.0,
            "cancelled": 0,
            "kept": len(as_json(request)),
        }
        async with self._engine.begin() as connection:
            await connection.execute(insert(runs).values(**row))
        return _record_of({**row, "result": None})

    async def get(self, run_id: str, owner: str | None = None) -> RunRecord | None:
        """Return a run; with `owner`, only a run of that owner."""
        conditions = [runs.c.run_id == run_id] + ([runs.c.owner == owner] if owner is not None else [])
        async with self._engine.connect() as connection:
            row = (await connection.execute(select(runs).where(*conditions))).mappings().first()
        return _record_of(row) if row is not None else None

    async def list_of_thread(self, owner: str, thread_id: str, limit: int = 10) -> Sequence[RunRecord]:
        """Return the runs of a thread, the last one first; of the request they hold only the graph, and no result."""
        bare = [each for each in runs.columns if each.name not in ("request", "result", "user")]
        query = (
            select(*bare, runs.c.request["assistant_id"].as_string().label("assistant_id"))
            .where(runs.c.owner == owner, runs.c.thread_id == thread_id)
            .order_by(runs.c.created_at.desc())
            .limit(limit)
        )
        async with self._engine.connect() as connection:
            rows = (await connection.execute(query)).mappings()
            given = [{**row, "request": {"assistant_id": row["assistant_id"]}} for row in rows]
        return [_record_of({**each, "result": None, "user": None}) for each in given]

    async def find_unfinished(self, thread_ids: Collection[str]) -> set[str]:
        """Return those of the threads that have an unfinished run."""
        query = select(runs.c.thread_id).where(runs.c.thread_id.in_(thread_ids), runs.c.status.in_(UNFINISHED))
        async with self._engine.connect() as connection:
            return {row.thread_id for row in await connection.execute(query)}

    async def count_waiting(self) -> int:
        """Return how many runs no worker has claimed yet."""
        query = select(func.count()).select_from(runs).where(runs.c.status == "pending")
        async with self._engine.connect() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def claim(self, worker: str, most: int, *, excluded: Collection[str] = ()) -> Sequence[RunRecord]:
        """Claim runs that no worker holds, the oldest first, at most one of a thread.

        `excluded` are the worker's own: after a machine slept, their leases have expired.
        """
        time = now()
        asked = {"time": time, "most": most, "excluded": list(excluded)}
        async with self._engine.connect() as connection:
            found = [_record_of(row) for row in (await connection.execute(_CLAIMABLE, asked)).mappings()]
        claimed = []
        for each in found:
            taken = replace(each, status="running", attempt=each.attempt + 1, tries=each.tries + 1)
            begun = {"attempt": taken.attempt, "tries": taken.tries}
            values = {"status": "running", "worker": worker, "leased_until": time + LEASE, **begun}
            # The run was cancelled, but its worker was killed before it stopped the run.
            if each.cancelled:
                values = {"status": "interrupted", "updated_at": time}
            async with self._engine.begin() as connection:
                same = (runs.c.run_id == each.run_id, _DUE, runs.c.attempt == each.attempt)
                done = await connection.execute(update(runs).where(*same).values(**values), {"time": time})
            if done.rowcount and not each.cancelled:
                claimed.append(taken)
        return claimed

    async def extend(self, worker: str, run_ids: Collection[str]) -> set[str]:
        """Extend the leases of a worker's runs; return those that it may go on with.

        That leaves out cancelled runs, and those that another worker took over because this one was silent.
        """
        mine = (runs.c.run_id.in_(list(run_ids)), runs.c.worker == worker, runs.c.status == "running")
        async with self._engine.begin() as connection:
            await connection.execute(
                update(runs).where(*mine).values(leased_until=now() + LEASE, worked=_work_seconds())
            )
            rows = await connection.execute(select(runs.c.run_id).where(*mine, runs.c.cancelled == 0))
            return {row.run_id for row in rows}

    async def record_progress(self, record: RunRecord, reached: str) -> RunRecord:
        """Store the checkpoint from which a run goes on; if it is a new one, the tries start again at 1."""
        if reached == record.reached:
            return record
        async with self._engine.begin() as connection:
            same = (runs.c.run_id == record.run_id, runs.c.attempt == record.attempt)
            await connection.execute(update(runs).where(*same).values(reached=reached, tries=1))
        return replace(record, reached=reached, tries=1)

    async def finish(
        self,
        record: RunRecord,
        worker: str,
        status: RunStatus,
        result: Mapping[str, Any] | None = None,
        last_events: Sequence[Mapping[str, Any]] = (),
        *,
        size: int = 0,
    ) -> bool:
        """Store the end of a run and its last events; return False where another worker has taken it over.

        Args:
            record: The run.
            worker: The worker that held it.
            status: Its final status.
            result: Its `values` or `error`.
            last_events: Those that are not in the database yet.
            size: Bytes of all its events.
        """
        kept = runs.c.kept + size + (len(as_json(result)) if result else 0)
        async with self._engine.begin() as connection:
            done = await connection.execute(
                update(runs)
                .where(runs.c.run_id == record.run_id, runs.c.worker == worker, runs.c.attempt == record.attempt)
                .values(
                    status=status,
                    updated_at=now(),
                    leased_until=0.0,
                    result=dict(result) if result else None,
                    kept=kept,
                )
            )
            if done.rowcount and last_events:
                await connection.execute(insert(events), [dict(each) for each in last_events])
        return done.rowcount > 0

    async def release(self) -> None:
        """Release all runs, so that other workers can claim them: their workers no longer exist."""
        async with self._engine.begin() as connection:
            await connection.execute(update(runs).where(runs.c.status == "running").values(leased_until=0.0))

    async def hand_over(self, worker: str) -> None:
        """Release the runs of a worker that stops; the interrupted try does not count."""
        mine = (runs.c.status == "running", runs.c.worker == worker)
        values = {"leased_until": 0.0, "worked": _work_seconds(), "tries": runs.c.tries - 1}
        async with self._engine.begin() as connection:
            await connection.execute(update(runs).where(*mine).values(**values))

    async def cancel(self, record: RunRecord) -> None:
        """Cancel a run; one that no worker has claimed ends at once."""
        async with self._engine.begin() as connection:
            await connection.execute(update(runs).where(runs.c.run_id == record.run_id).values(cancelled=1))
            await connection.execute(
                update(runs)
                .where(runs.c.run_id == record.run_id, runs.c.status == "pending")
                .values(status="interrupted", updated_at=now())
            )

    async def remove_ended(self, before: float) -> None:
        """Delete the runs that ended before a time, with their events; the threads keep their state."""
        async with self._engine.begin() as connection:
            await connection.execute(delete(runs).where(~runs.c.status.in_(UNFINISHED), runs.c.updated_at < before))


def _work_seconds() -> Any:  # noqa: ANN401  # an expression of SQLAlchemy
    """Return the seconds of work on a run, with the time since its lease was extended."""
    return runs.c.worked + (now() + LEASE - runs.c.leased_until)


def _record_of(row: Mapping[str, Any] | RowMapping) -> RunRecord:
    values = {name: row[name] for name in RunRecord.__slots__}
    return RunRecord(**{**values, "cancelled": bool(values["cancelled"])})
