"""Threads of a server: whose they are, what they are called, and when they were last used.

What was said in them is the graph's own state, in its checkpoints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from sqlalchemy import Text, cast, delete, func, insert, select, union_all, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from anabranch.errors import SettingsError
from anabranch_server.database import now, runs, threads
from anabranch_server.json_values import MAX_REPLY, as_json

MAX_THREADS = 1_000
"""Threads that one search returns at most."""

AT_ONCE = 50
"""Rows that are read at once: their metadata may be long."""

MAX_ID = 100
MAX_METADATA = 50
"""Fields of a thread's metadata."""

MAX_METADATA_CHARS = 65_536
"""Of a thread's metadata as JSON: a list of threads has those of each."""


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """One thread; times in seconds since 1970."""

    thread_id: str
    owner: str
    metadata: dict[str, Any]
    created_at: float
    updated_at: float


def refuse_large_metadata(metadata: Mapping[str, Any]) -> None:
    """Refuse metadata that a thread cannot have.

    Raises:
        SettingsError: They are too many, or too long.
    """
    if len(metadata) > MAX_METADATA or len(as_json(metadata)) > MAX_METADATA_CHARS:
        msg = f"A thread's metadata have at most {MAX_METADATA} fields and {MAX_METADATA_CHARS:,} characters as JSON."
        raise SettingsError(msg, hint="Shorten them.")


def _is_id(thread_id: str) -> bool:
    """Tell whether a thread can have an id: a line break has no place in a log, and no database takes a zero byte."""
    return 0 < len(thread_id) <= MAX_ID and thread_id.isprintable()


class Threads:
    """The threads of all owners; every method but `add` and `refuse_taken` finds those of one owner alone."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Take the database they are in."""
        self._engine = engine

    async def add(
        self, owner: str, thread_id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> ThreadRecord:
        """Make a thread.

        Raises:
            SettingsError: There is one of this id already, of whomever, or the id or the metadata cannot be kept.
        """
        key = thread_id or str(uuid4())
        if not _is_id(key):
            msg = f"A thread's id has at most {MAX_ID} characters, and no line breaks or other control characters."
            raise SettingsError(msg, hint="Leave it out, and one is made.")
        refuse_large_metadata(metadata or {})
        time = now()
        record = ThreadRecord(key, owner, dict(metadata or {}), time, time)
        try:
            async with self._engine.begin() as connection:
                kept = len(as_json(record.metadata))
                await connection.execute(insert(threads).values(**_row(record), kept=kept))
        except IntegrityError as error:
            raise _taken() from error
        return record

    async def refuse_taken(self, thread_id: str) -> None:
        """Refuse an id that checkpoints may be kept under: a thread's, of whomever, or a run's.

        Raises:
            SettingsError: It is one.
        """
        of_threads = select(threads.c.thread_id).where(threads.c.thread_id == thread_id)
        of_runs = select(runs.c.run_id).where(runs.c.run_id == thread_id)
        async with self._engine.connect() as connection:
            if (await connection.execute(union_all(of_threads, of_runs))).first() is not None:
                raise _taken()

    async def get(self, owner: str, thread_id: str) -> ThreadRecord | None:
        """Return a thread; None where this owner has none of the id."""
        if not _is_id(thread_id):
            return None
        async with self._engine.connect() as connection:
            row = (await connection.execute(select(threads).where(*_of(owner, thread_id)))).first()
        return _record(row) if row is not None else None

    async def search(
        self,
        owner: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        ids: Sequence[str] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> Sequence[ThreadRecord]:
        """Return this owner's threads, the last used first: as many as a reply may hold, and one at least.

        Args:
            owner: Whose.
            metadata: Only those that have all its fields.
            ids: Only those of these ids.
            limit: How many at most.
            offset: How many are left out first.
        """
        wanted = dict(metadata or {})
        among = [] if ids is None else [threads.c.thread_id.in_([each for each in ids if _is_id(each)])]
        query = (
            select(threads, func.length(cast(threads.c.metadata, Text)).label("size"))
            .where(threads.c.owner == owner, *_narrowed(wanted), *among)
            .order_by(threads.c.updated_at.desc(), threads.c.thread_id)
        )
        most = min(limit, MAX_THREADS)
        # What equals what in JSON, no two databases agree on: without metadata the database leaves out.
        left_out = offset if wanted else 0
        if not wanted:
            query = query.limit(most).offset(offset)
        found: list[ThreadRecord] = []
        size = 0
        # Read only as far as is needed.
        options = {"yield_per": AT_ONCE}
        async with self._engine.connect() as connection, connection.stream(query, execution_options=options) as rows:
            async for row in rows:
                if any(row.metadata.get(name) != value for name, value in wanted.items()):
                    continue
                if left_out:
                    left_out -= 1
                    continue
                size += row.size
                if len(found) >= most or (found and size > MAX_REPLY):
                    break
                found.append(_record(row))
        return found

    async def change(self, owner: str, thread_id: str, metadata: Mapping[str, Any]) -> ThreadRecord | None:
        """Put fields over those of a thread's metadata; None where there is no such thread."""
        record = await self.get(owner, thread_id)
        if record is None:
            return None
        merged = {**record.metadata, **metadata}
        more = len(as_json(merged)) - len(as_json(record.metadata))
        changed = {"metadata": merged, "kept": threads.c.kept + more}
        async with self._engine.begin() as connection:
            await connection.execute(update(threads).where(*_of(owner, thread_id)).values(**changed))
        return replace(record, metadata=merged)

    async def touch(self, thread_id: str, written: int = 0) -> None:
        """Note that a thread was used now, and how many bytes were written into it."""
        used = {"updated_at": now(), "kept": threads.c.kept + written}
        async with self._engine.begin() as connection:
            await connection.execute(update(threads).where(threads.c.thread_id == thread_id).values(**used))

    async def remove(self, owner: str, thread_id: str) -> bool:
        """Remove a thread with its runs; whether there was one."""
        async with self._engine.begin() as connection:
            done = await connection.execute(delete(threads).where(*_of(owner, thread_id)))
        return done.rowcount > 0


def _taken() -> SettingsError:
    return SettingsError("This thread's id is taken.", hint="Leave it out, and one is made.")


def _of(owner: str, thread_id: str) -> tuple[Any, Any]:
    return threads.c.owner == owner, threads.c.thread_id == thread_id


def _narrowed(wanted: Mapping[str, Any]) -> list[Any]:
    """Return conditions that leave out most threads without such metadata: texts, which both databases compare."""
    return [
        threads.c.metadata[name].as_string() == value
        for name, value in wanted.items()
        # Other names would be read as a path, and PostgreSQL has no text with a zero byte.
        if isinstance(value, str) and name.isidentifier() and "\0" not in value
    ]


def _row(record: ThreadRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}


def _record(row: Any) -> ThreadRecord:  # noqa: ANN401  # a row of SQLAlchemy
    return ThreadRecord(row.thread_id, row.owner, dict(row.metadata), row.created_at, row.updated_at)
