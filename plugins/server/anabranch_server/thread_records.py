"""Threads of a server: their owners, metadata and times.

Their messages are in the graph's checkpoints.
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
from anabranch_server.run_queue import UNFINISHED

MAX_THREADS = 1_000
"""Most threads that a search returns."""

AT_ONCE = 50
"""Rows read at a time, because their metadata may be long."""

MAX_ID = 100
MAX_METADATA = 50
"""Most fields of a thread's metadata."""

MAX_METADATA_CHARS = 65_536
"""Most characters of a thread's metadata as JSON; a list of threads holds those of each."""


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """One thread; times in seconds since 1970."""

    thread_id: str
    owner: str
    metadata: dict[str, Any]
    created_at: float
    updated_at: float


def refuse_large_metadata(metadata: Mapping[str, Any]) -> None:
    """Refuse metadata that are too large.

    Raises:
        SettingsError: There are too many fields or characters.
    """
    if len(metadata) > MAX_METADATA or len(as_json(metadata)) > MAX_METADATA_CHARS:
        msg = f"A thread's metadata have at most {MAX_METADATA} fields and {MAX_METADATA_CHARS:,} characters as JSON."
        raise SettingsError(msg, hint="Shorten them.")


def _is_id(thread_id: str) -> bool:
    """Tell whether an id is valid: line breaks would corrupt logs, and databases refuse zero bytes."""
    return 0 < len(thread_id) <= MAX_ID and thread_id.isprintable()


class Threads:
    """The threads of all owners; methods that take an owner see only that owner's threads."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Take the database."""
        self._engine = engine

    async def add(
        self, owner: str, thread_id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> ThreadRecord:
        """Make a thread.

        Raises:
            SettingsError: The id is taken by anybody's thread, or the id or the metadata are invalid.
        """
        key = thread_id or str(uuid4())
        if not _is_id(key):
            msg = f"A thread's id has at most {MAX_ID} characters, and no line breaks or other control characters."
            raise SettingsError(msg, hint="Leave it out to have one made.")
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
        """Refuse an id that anybody's thread or run has: checkpoints may be stored under it.

        Raises:
            SettingsError: The id is taken.
        """
        of_threads = select(threads.c.thread_id).where(threads.c.thread_id == thread_id)
        of_runs = select(runs.c.run_id).where(runs.c.run_id == thread_id)
        async with self._engine.connect() as connection:
            if (await connection.execute(union_all(of_threads, of_runs))).first() is not None:
                raise _taken()

    async def get(self, owner: str, thread_id: str) -> ThreadRecord | None:
        """Return a thread; None where this owner has none with the id."""
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
        """Return this owner's threads, the last used first: as many as fit a reply, and at least one.

        Args:
            owner: Their owner.
            metadata: Only threads that have all these fields.
            ids: Only threads with these ids.
            limit: Most threads.
            offset: Threads to skip.
        """
        wanted = dict(metadata or {})
        among = [] if ids is None else [threads.c.thread_id.in_([each for each in ids if _is_id(each)])]
        query = (
            select(threads, func.length(cast(threads.c.metadata, Text)).label("size"))
            .where(threads.c.owner == owner, *_narrowed(wanted), *among)
            .order_by(threads.c.updated_at.desc(), threads.c.thread_id)
        )
        most = min(limit, MAX_THREADS)
        # Databases disagree on the equality of JSON values, so threads are skipped here where metadata is compared.
        left_out = offset if wanted else 0
        if not wanted:
            query = query.limit(most).offset(offset)
        found: list[ThreadRecord] = []
        size = 0
        # Rows are streamed, so that only the needed ones are read.
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
        """Merge fields into a thread's metadata; None where there is no such thread."""
        record = await self.get(owner, thread_id)
        if record is None:
            return None
        merged = {**record.metadata, **metadata}
        more = len(as_json(merged)) - len(as_json(record.metadata))
        changed = {"metadata": merged, "kept": threads.c.kept + more}
        async with self._engine.begin() as connection:
            await connection.execute(update(threads).where(*_of(owner, thread_id)).values(**changed))
        return replace(record, metadata=merged)

    async def touch(self, thread_id: str, written: int, run_id: str | None = None) -> bool:
        """Update the time of a thread's last use, and add the bytes written; return whether it exists.

        With `run_id` only the thread that still has this run: it may have been removed, and its id given to another.
        """
        used = {"updated_at": now(), "kept": threads.c.kept + written}
        same = [threads.c.thread_id == thread_id]
        if run_id is not None:
            same.append(select(runs.c.run_id).where(runs.c.run_id == run_id).exists())
        async with self._engine.begin() as connection:
            done = await connection.execute(update(threads).where(*same).values(**used))
        return done.rowcount > 0

    async def remove(self, owner: str, thread_id: str) -> bool:
        """Remove a thread with its runs; return whether it existed."""
        async with self._engine.begin() as connection:
            done = await connection.execute(delete(threads).where(*_of(owner, thread_id)))
        return done.rowcount > 0

    async def list_idle(self, before: float, most: int) -> Sequence[str]:
        """Return ids of threads that were last used before a time and have no unfinished run, the oldest first."""
        query = select(threads.c.thread_id).where(*_idle(before)).order_by(threads.c.updated_at).limit(most)
        async with self._engine.connect() as connection:
            return list((await connection.execute(query)).scalars())

    async def remove_idle(self, thread_id: str, before: float) -> bool:
        """Remove a thread if it still is one that `list_idle` returns; return whether it was."""
        row = threads.c.thread_id == thread_id
        async with self._engine.begin() as connection:
            # PostgreSQL: waits for a run that is just being accepted, which the next statement then sees.
            await connection.execute(select(threads.c.thread_id).where(row).with_for_update())
            done = await connection.execute(delete(threads).where(row, *_idle(before)))
        return done.rowcount > 0


def _idle(before: float) -> tuple[Any, Any]:
    unfinished = select(runs.c.run_id).where(runs.c.thread_id == threads.c.thread_id, runs.c.status.in_(UNFINISHED))
    return threads.c.updated_at < before, ~unfinished.exists()


def _taken() -> SettingsError:
    return SettingsError("This thread's id is taken.", hint="Leave it out to have one made.")


def _of(owner: str, thread_id: str) -> tuple[Any, Any]:
    return threads.c.owner == owner, threads.c.thread_id == thread_id


def _narrowed(wanted: Mapping[str, Any]) -> list[Any]:
    """Return conditions on metadata that are texts, which both databases compare alike."""
    return [
        threads.c.metadata[name].as_string() == value
        for name, value in wanted.items()
        # SQLAlchemy reads other names as a path, and PostgreSQL refuses zero bytes.
        if isinstance(value, str) and name.isidentifier() and "\0" not in value
    ]


def _row(record: ThreadRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}


def _record(row: Any) -> ThreadRecord:  # noqa: ANN401  # a row of SQLAlchemy
    return ThreadRecord(row.thread_id, row.owner, dict(row.metadata), row.created_at, row.updated_at)
