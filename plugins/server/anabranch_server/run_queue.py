"""Runs of a server: what was asked, how far it is, and which worker has it.

A worker holds a run by a lease and extends it while the run goes on. When a worker is killed its leases end, and
whichever worker looks next takes the run over. To claim is one conditional update, which both databases do alike: of
two workers that try, one changes a row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import uuid4

from sqlalchemy import and_, delete, func, insert, or_, select, update
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncEngine

from anabranch_server.database import events, now, runs
from anabranch_server.json_values import as_json

RunStatus = Literal["pending", "running", "success", "error", "interrupted"]
UNFINISHED: tuple[RunStatus, ...] = ("pending", "running")

LEASE = 20.0
"""Seconds after which a run whose worker is silent is another one's."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run; times in seconds since 1970.

    Attributes:
        run_id: Its id.
        thread_id: Of its thread, None for a run without one.
        owner: Whose it is.
        user: Who asked, as a `User` is written as JSON; None where nobody is authenticated.
        request: What was asked, as it came.
        status: How far it is.
        created_at: When it was asked.
        updated_at: When its status last changed.
        attempt: How many times a worker took it.
        reached: The last of its checkpoints when it was taken over; empty where it had none.
        tries: How many times it was begun from there, and its worker did not end it.
        worked: For how many seconds workers had it, the present one not counted.
        cancelled: Whether it was told to stop.
        result: What it left: `values` or `error`.
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
        """Return the id that its checkpoints are kept under."""
        return self.thread_id or self.run_id


class RunQueue:
    """The runs of all owners and workers."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Take the database they are in."""
        self._engine = engine

    async def add(
        self, owner: str, request: Mapping[str, Any], *, thread_id: str | None, user: Mapping[str, Any] | None
    ) -> RunRecord:
        """Accept a run: from now on it is in the database, and will be worked on."""
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
        """Return a run; with `owner`, only one of theirs."""
        of = [runs.c.run_id == run_id] + ([runs.c.owner == owner] if owner is not None else [])
        async with self._engine.connect() as connection:
            row = (await connection.execute(select(runs).where(*of))).mappings().first()
        return _record_of(row) if row is not None else None

    async def of_thread(self, owner: str, thread_id: str, limit: int = 10) -> Sequence[RunRecord]:
        """Return the runs of a thread, the last one first, without their results and what was asked but the graph."""
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

    async def unfinished(self, thread_ids: Collection[str]) -> set[str]:
        """Return which of these threads have a run that has not ended."""
        query = select(runs.c.thread_id).where(runs.c.thread_id.in_(thread_ids), runs.c.status.in_(UNFINISHED))
        async with self._engine.connect() as connection:
            return {row.thread_id for row in await connection.execute(query)}

    async def waiting(self) -> int:
        """Return how many runs nobody works on yet."""
        query = select(func.count()).select_from(runs).where(runs.c.status == "pending")
        async with self._engine.connect() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def claim(self, worker: str, most: int, *, besides: Collection[str] = ()) -> Sequence[RunRecord]:
        """Take over runs that nobody works on, the oldest first, at most one of a thread.

        Not those in `besides`, which this worker has: a machine that slept wakes with leases that have ended.
        """
        time = now()
        due = or_(runs.c.status == "pending", and_(runs.c.status == "running", runs.c.leased_until < time))
        # A thread's runs go one after the other: the next one begins with the state that the one before it left.
        before = runs.alias("before")
        is_first = ~(
            select(before.c.run_id)
            .where(
                before.c.thread_id == runs.c.thread_id,
                before.c.status.in_(UNFINISHED),
                or_(
                    before.c.created_at < runs.c.created_at,
                    and_(before.c.created_at == runs.c.created_at, before.c.run_id < runs.c.run_id),
                ),
            )
            .exists()
        )
        query = (
            select(runs)
            .where(due, is_first, runs.c.run_id.not_in(list(besides)))
            .order_by(runs.c.created_at)
            .limit(most)
        )
        async with self._engine.connect() as connection:
            found = [_record_of(row) for row in (await connection.execute(query)).mappings()]
        claimed = []
        for each in found:
            taken = replace(each, status="running", attempt=each.attempt + 1, tries=each.tries + 1)
            begun = {"attempt": taken.attempt, "tries": taken.tries}
            values = {"status": "running", "worker": worker, "leased_until": time + LEASE, **begun}
            # Its worker was killed before it stopped it: nobody wants it to go on.
            if each.cancelled:
                values = {"status": "interrupted", "updated_at": time}
            async with self._engine.begin() as connection:
                same = (runs.c.run_id == each.run_id, due, runs.c.attempt == each.attempt)
                done = await connection.execute(update(runs).where(*same).values(**values))
            if done.rowcount and not each.cancelled:
                claimed.append(taken)
        return claimed

    async def extend(self, worker: str, run_ids: Collection[str]) -> set[str]:
        """Hold on to those runs that this worker works on; return which of them it may go on with.

        Not with those that were told to stop, or that another worker took over because this one had been silent.
        """
        mine = (runs.c.run_id.in_(list(run_ids)), runs.c.worker == worker, runs.c.status == "running")
        async with self._engine.begin() as connection:
            await connection.execute(update(runs).where(*mine).values(leased_until=now() + LEASE, worked=_worked()))
            rows = await connection.execute(select(runs.c.run_id).where(*mine, runs.c.cancelled == 0))
            return {row.run_id for row in rows}

    async def got_on(self, record: RunRecord, reached: str) -> RunRecord:
        """Note where a run that was taken over goes on from: what it had reached before is not begun again."""
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
        said: Sequence[Mapping[str, Any]] = (),
        *,
        spoken: int = 0,
    ) -> bool:
        """Note how a run ended, and its last events; False where another worker took it over, whose word counts.

        Args:
            record: The run.
            worker: Who had it.
            status: How it ended.
            result: What it left.
            said: Its last events.
            spoken: Bytes of all its events.
        """
        kept = runs.c.kept + spoken + (len(as_json(result)) if result else 0)
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
            if done.rowcount and said:
                await connection.execute(insert(events), [dict(each) for each in said])
        return done.rowcount > 0

    async def release(self) -> None:
        """Let go of all runs, which workers that are no more had: whoever looks next goes on with them."""
        async with self._engine.begin() as connection:
            await connection.execute(update(runs).where(runs.c.status == "running").values(leased_until=0.0))

    async def hand_over(self, worker: str) -> None:
        """Let go of the runs of a worker that stops in good order: none of them ended it, so this was no try."""
        mine = (runs.c.status == "running", runs.c.worker == worker)
        values = {"leased_until": 0.0, "worked": _worked(), "tries": runs.c.tries - 1}
        async with self._engine.begin() as connection:
            await connection.execute(update(runs).where(*mine).values(**values))

    async def cancel(self, record: RunRecord) -> None:
        """Tell a run to stop: at once where nobody works on it yet."""
        async with self._engine.begin() as connection:
            await connection.execute(update(runs).where(runs.c.run_id == record.run_id).values(cancelled=1))
            await connection.execute(
                update(runs)
                .where(runs.c.run_id == record.run_id, runs.c.status == "pending")
                .values(status="interrupted", updated_at=now())
            )

    async def remove_ended(self, before: float) -> None:
        """Forget the runs that ended before a time, with what they said; the threads keep their state."""
        async with self._engine.begin() as connection:
            await connection.execute(delete(runs).where(~runs.c.status.in_(UNFINISHED), runs.c.updated_at < before))


def _worked() -> Any:  # noqa: ANN401  # an expression of SQLAlchemy
    """Return how long a run was worked on, with the time since its lease was extended."""
    return runs.c.worked + (now() + LEASE - runs.c.leased_until)


def _record_of(row: Mapping[str, Any] | RowMapping) -> RunRecord:
    values = {name: row[name] for name in RunRecord.__slots__}
    return RunRecord(**{**values, "cancelled": bool(values["cancelled"])})
