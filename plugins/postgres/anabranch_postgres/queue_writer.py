"""Writes to a corpus in PostgreSQL beside other workers, from a table of jobs.

Workers share the lock of a lone writer, for one transaction at a time. So nothing is written while somebody publishes,
and a lone writer gets its turn between two batches. Row locks keep workers apart: each file has one job, whose row is
locked while its documents are written, and each name of a document is unique.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from psycopg import Connection
from psycopg.errors import UniqueViolation
from psycopg.rows import class_row

from anabranch.store.records import Grown, text_key
from anabranch.store.writer_protocol import FileRecord, WriteResult
from anabranch_postgres.postgres_writer import PostgresWriter
from anabranch_postgres.queue.queue_protocol import QueuedFile, QueueFailure, QueueState

TRIES = 3
"""Most attempts at a file whose reader is killed or which cannot be opened."""

SUSPECT = 2
"""After this many deaths of its workers, a job is claimed alone, so that it cannot take others down."""

DEATHS = 10
"""After this many deaths a job is given up. More than TRIES, because a killed worker also had innocent jobs."""

PAUSE = 5.0
"""Seconds before another attempt, times the attempts so far."""

LONGEST_ERROR = 2_000
MOST_FAILURES = 50

_GIVE_UP = """
UPDATE anabranch.jobs SET state = 'failed', changed = now(), error = %(died)s
WHERE corpus = %(corpus)s AND state = 'running' AND lease <= now() AND tries >= %(deaths)s
"""
_OLDEST = """
SELECT options FROM anabranch.jobs WHERE corpus = %(corpus)s AND state IN ('todo', 'running') AND lease <= now()
AND NOT id = ANY(%(excluded)s) AND (tries >= %(suspect)s) = %(alone)s ORDER BY id LIMIT 1
"""
_TAKE = """
UPDATE anabranch.jobs SET state = 'running', worker = %(worker)s, tries = tries + 1, changed = now(), passages = 0,
lease = now() + make_interval(secs => %(lease)s)
WHERE corpus = %(corpus)s AND id IN (
    SELECT id FROM anabranch.jobs WHERE corpus = %(corpus)s AND state IN ('todo', 'running') AND lease <= now()
    AND NOT id = ANY(%(excluded)s) AND (tries >= %(suspect)s) = %(alone)s AND options = %(options)s
    ORDER BY id LIMIT %(most)s FOR UPDATE SKIP LOCKED
) RETURNING path, place, source, options, access, gone, id, tries
"""

_TAKEN = "another file took the name of a document at the same time"


class PostgresQueue(PostgresWriter):
    """Writes beside others, implementing `QueueWriter`; made by `PostgresStore.queue`."""

    def __init__(self, connection: Connection[Any], corpus: int, worker: str, lease: float) -> None:
        """Take a connection for this worker alone, the number of the corpus, the worker's name and the lease."""
        super().__init__(connection, corpus)
        self._worker = worker
        self._lease = lease
        self._job_of: dict[str, QueuedFile] = {}
        self._left: dict[int, set[str]] = {}
        self._gone: set[str] = set()
        self._passages: Counter[int] = Counter()
        self._taken: set[str] = set()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all of it or nothing, while no lone writer writes or publishes."""
        with self.connection.transaction():
            self.connection.execute("SELECT pg_advisory_xact_lock_shared(hashtext('anabranch'), %s)", (self.corpus,))
            yield

    def write(self, batch: Sequence[Grown], files: Sequence[FileRecord]) -> WriteResult:
        """Write the documents of jobs that this worker still holds, and finish the jobs that are complete."""
        with self.transaction():
            lost = self._find_lost({grown.path for grown in batch} | {record.path for record in files})
            mine = [grown for grown in batch if grown.path not in lost]
            self._taken.clear()
            # Sorted, or two workers could each wait for a name that the other one holds.
            written = super().write(
                sorted(mine, key=lambda grown: grown.document.source), [file for file in files if file.path not in lost]
            )
            for grown in mine:
                if job := self._job_of.get(grown.path):
                    self._passages[job.id] += len(grown.tree.leaves)
            for file in files:
                if file.path not in lost and (job := self._job_of.get(file.path)):
                    if file.path in self._taken:
                        self.fail(job, _TAKEN, again=True)
                    else:
                        self.finish_file(job, file.path)
        return written

    def _find_lost(self, paths: set[str]) -> set[str]:
        """Return the paths whose job was reassigned because this worker was silent for too long; lock the others.

        A late worker must not overwrite what its successor has written.
        """
        jobs = {path: self._job_of[path].id for path in paths if path in self._job_of}
        sql = (
            "SELECT id FROM anabranch.jobs WHERE corpus = %s AND id = ANY(%s) AND state = 'running' AND worker = %s "
            "ORDER BY id FOR UPDATE"
        )
        rows = self.connection.execute(sql, (self.corpus, list(jobs.values()), self._worker)) if jobs else ()
        held = {number for (number,) in rows}
        return {path for path, number in jobs.items() if number not in held}

    def _refusal(self, grown: Grown, error: Exception) -> str:
        if not isinstance(error, UniqueViolation):
            return super()._refusal(grown, error)
        self._taken.add(grown.path)
        return _TAKEN

    def _clear(self, doc_ids: list[str], paths: Sequence[str]) -> None:
        # Spare documents of other files, which may be newer than the look-up; the database then rejects the name.
        own, gone = [text_key(path) for path in paths], [text_key(path) for path in self._gone]
        pairs = "(doc_id, path_key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))"
        self._remove(f"({pairs} OR doc_id = ANY(%s) AND path_key = ANY(%s))", doc_ids, own, doc_ids, gone)

    def uncount(self, numbers: Sequence[int]) -> None:
        """Subtract documents from the counts of words, one worker at a time: most documents share words."""
        self.connection.execute("SELECT pg_advisory_xact_lock(hashtext('anabranch removal'), %s)", (self.corpus,))
        super().uncount(numbers)

    def enqueue(self, jobs: Sequence[QueuedFile]) -> set[str]:
        """Queue files; return the paths of those that a worker is reading."""
        rows = [
            (text_key(job.path), job.path, job.place, job.source, job.options, json.dumps(dict(job.access)),
             json.dumps(list(job.gone)))
            for job in jobs
        ]  # fmt: skip
        sql = (
            "INSERT INTO anabranch.jobs AS j (corpus, path_key, path, place, source, options, access, gone) "
            "SELECT %s, a.* FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::jsonb[], "
            "%s::jsonb[]) a ON CONFLICT (corpus, path_key) DO UPDATE SET place = excluded.place, "
            "source = excluded.source, options = excluded.options, access = excluded.access, gone = excluded.gone, "
            "state = 'todo', tries = 0, worker = '', lease = now(), changed = now(), passages = 0, error = '' "
            "WHERE j.state <> 'running' OR j.lease < now() RETURNING path"
        )
        columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * 7
        queued = {path for (path,) in self.connection.execute(sql, (self.corpus, *columns))}
        return {job.path for job in jobs} - queued

    def forget(self, path: str) -> None:
        """Drop the job of a file that is gone, unless a worker has it."""
        sql = "DELETE FROM anabranch.jobs WHERE corpus = %s AND path_key = %s AND state <> 'running'"
        self.connection.execute(sql, (self.corpus, text_key(path)))

    def begin(self) -> None:
        """Begin to queue: workers wait for more until this writer is closed. Finished jobs are dropped."""
        # Shared, because several people may queue at once; the lock ends with the connection, even after a kill.
        self.connection.execute("SELECT pg_advisory_lock_shared(hashtext('anabranch queuing'), %s)", (self.corpus,))
        sql = (
            "DELETE FROM anabranch.jobs j WHERE j.corpus = %s AND j.state = 'done' AND NOT EXISTS (SELECT 1 FROM "
            "anabranch.jobs o WHERE o.corpus = j.corpus AND o.state IN ('todo', 'running'))"
        )
        self.connection.execute(sql, (self.corpus,))

    def queued(self) -> Iterator[str]:
        """Yield the paths of the jobs that wait for a worker, or were given up."""
        sql = "SELECT path FROM anabranch.jobs WHERE corpus = %s AND state IN ('todo', 'failed')"
        yield from (path for (path,) in self.connection.execute(sql, (self.corpus,)).fetchall())

    def claim(self, most: int, *, options: str, excluded: Collection[int], alone: bool) -> list[QueuedFile]:
        """Take jobs, oldest first."""
        known = {
            "corpus": self.corpus, "worker": self._worker, "lease": self._lease, "most": most, "options": options,
            "excluded": list(excluded), "suspect": SUSPECT, "alone": alone, "deaths": DEATHS,
            "died": f"given up: {DEATHS} workers died while they had it",
        }  # fmt: skip
        self.connection.execute(_GIVE_UP, known)
        if not options:
            oldest = self.connection.execute(_OLDEST, known).fetchone()
            known["options"] = oldest[0] if oldest else ""
        with self.connection.cursor(row_factory=class_row(QueuedFile)) as cursor:
            jobs = sorted(cursor.execute(_TAKE, known).fetchall(), key=lambda job: job.id)
        for job in jobs:
            self._left[job.id] = set(job.access)
            self._job_of |= dict.fromkeys(job.access, job)
            self._gone.update(job.gone)
        return jobs

    def is_replaced(self, path: str) -> bool:
        """Tell whether the queuing machine saw that a file of that name is gone."""
        # Do not check this machine's disk, which may never have had the file.
        return path in self._gone

    def fail(self, job: QueuedFile, error: str, *, again: bool) -> None:
        """Give up a job, or leave it to another worker after a while if few have tried."""
        sql = (
            "UPDATE anabranch.jobs SET state = %s, error = %s, changed = now(), worker = '', "
            "lease = now() + make_interval(secs => %s) WHERE corpus = %s AND id = %s AND worker = %s"
        )
        state = "todo" if again and job.tries < TRIES else "failed"
        pause = PAUSE * job.tries
        self.connection.execute(sql, (state, _shorten(error), pause, self.corpus, job.id, self._worker))
        self._drop(job)

    def note(self, job: QueuedFile, remark: str) -> None:
        """Store a remark with a job, unless it has one."""
        sql = "UPDATE anabranch.jobs SET error = %s WHERE corpus = %s AND id = %s AND worker = %s AND error = ''"
        self.connection.execute(sql, (_shorten(remark), self.corpus, job.id, self._worker))

    def finish_file(self, job: QueuedFile, path: str) -> None:
        """Finish a file of a job, and the job with its last file."""
        left = self._left.get(job.id)
        if left is None:
            return
        left.discard(path)
        if not left:
            sql = (
                "UPDATE anabranch.jobs SET state = 'done', passages = %s, changed = now(), worker = '' "
                "WHERE corpus = %s AND id = %s AND worker = %s"
            )
            self.connection.execute(sql, (self._passages[job.id], self.corpus, job.id, self._worker))
            self._drop(job)

    def release(self) -> None:
        """Return all jobs of this worker to the queue; they count as not begun."""
        sql = (
            "UPDATE anabranch.jobs SET state = 'todo', worker = '', tries = tries - 1, lease = now(), changed = now() "
            "WHERE corpus = %s AND worker = %s AND state = 'running'"
        )
        self.connection.execute(sql, (self.corpus, self._worker))

    def state(self) -> QueueState:
        """Return the number of jobs in each state."""
        sql = (
            "SELECT count(*) FILTER (WHERE state = 'todo') todo, count(*) FILTER (WHERE state = 'running') running, "
            "count(*) FILTER (WHERE state = 'done') done, count(*) FILTER (WHERE state = 'failed') failed, "
            "count(DISTINCT nullif(worker, '')) workers, "
            "coalesce(sum(passages) FILTER (WHERE state = 'done' AND changed > now() - interval '1 minute'), 0) "
            "passages, count(*) FILTER (WHERE state = 'done' AND changed > now() - interval '1 minute') files, "
            "NOT pg_try_advisory_xact_lock(hashtext('anabranch queuing'), %(corpus)s) queuing, "
            "(SELECT changes = published FROM anabranch.corpora WHERE id = %(corpus)s) published "
            "FROM anabranch.jobs WHERE corpus = %(corpus)s"
        )
        failures = (
            "SELECT source, error FROM anabranch.jobs WHERE corpus = %s AND error <> '' ORDER BY changed DESC LIMIT %s"
        )
        with self.connection.cursor(row_factory=class_row(QueueState)) as cursor:
            found = cursor.execute(sql, {"corpus": self.corpus}).fetchone() or QueueState()
        rows = self.connection.execute(failures, (self.corpus, MOST_FAILURES))
        return found._replace(failures=[QueueFailure(*row) for row in rows])

    def _drop(self, job: QueuedFile) -> None:
        self._left.pop(job.id, None)
        self._passages.pop(job.id, None)
        for path in job.access:
            self._job_of.pop(path, None)


def _shorten(error: str) -> str:
    return error.replace("\0", "")[:LONGEST_ERROR]
