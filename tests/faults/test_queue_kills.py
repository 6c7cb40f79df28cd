"""Workers that are killed at any instant, and a database that goes down, lose no queued file and finish none twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest

from anabranch.ingestion.pipeline import ingest
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from anabranch_postgres.queue.consumer import work
from anabranch_postgres.queue.producer import enqueue
from anabranch_postgres.queue.queue_protocol import QueueState, open_queue
from tests.faults.children import PATIENCE, Child, Say
from tests.faults.conftest import NewFault
from tests.faults.days import SIZES, said
from tests.servers.postgres import postgres, restart

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

DAYS = 40
WORKERS = 4
LEASE = 1.0
LOOKED_AT = (
    "every queued file is in the corpus, whole, in its last edition, and none was finished twice; both arms find "
    "exactly what an ingest by one process makes of the folder; no job is left or was given up"
)
# Who finishes a file writes its record: a second time for the same bytes would be a repetition.
AUDIT = """
CREATE TABLE finished (path text, sha256 text);
CREATE FUNCTION note_finished() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO public.finished VALUES (NEW.path, NEW.sha256); RETURN NEW; END $$;
CREATE TRIGGER note_finished AFTER INSERT OR UPDATE ON anabranch.files FOR EACH ROW EXECUTE FUNCTION note_finished();
"""


@pytest.fixture
def database() -> Iterator[str]:
    with TemporaryDirectory(prefix="anabranch-", ignore_cleanup_errors=True) as home, postgres(Path(home)) as address:
        yield address


def working(say: Say, corpus: str) -> None:
    work(corpus, lease=LEASE, listener=say)


def test_killed_workers(database: str, tmp_path: Path, model: Path, tries: int, fault: NewFault) -> None:
    row = fault(f"SIGKILL of one of {WORKERS} workers on PostgreSQL at a random instant", LOOKED_AT)
    corpus, folder = f"{database}#killed", tmp_path / "days"
    folder.mkdir()
    dice = next(row.dice(1))
    workers: list[Child] = []
    with row.attempt():
        edition = 0
        row.tries = 0
        while row.tries < tries:
            edition += 1
            queue_days(folder, corpus, model, edition)
            if edition == 1:
                with closing(psycopg.connect(database, autocommit=True)) as connection:
                    connection.execute(AUDIT)
            while row.tries < tries and not state(corpus).is_idle:
                workers = [worker for worker in workers if worker.is_alive]
                workers += [Child(working, corpus) for _ in range(WORKERS - len(workers))]
                dice.choice(workers).kill(dice.uniform(0.0, 0.5))
                row.tries += 1
        finish(corpus)
        for worker in workers:
            worker.kill()
        look(database, corpus, folder, model)
    row.settle()


def test_a_database_that_goes_down(database: str, tmp_path: Path, model: Path, few: int, fault: NewFault) -> None:
    row = fault("the server of the database is stopped at once and started again, under two workers", LOOKED_AT)
    corpus, folder = f"{database}#down", tmp_path / "days"
    folder.mkdir()
    dice = next(row.dice(1))
    with row.attempt():
        queue_days(folder, corpus, model, 0)
        with closing(psycopg.connect(database, autocommit=True)) as connection:
            connection.execute(AUDIT)
        workers = [Child(working, corpus) for _ in range(2)]
        for edition in range(1, few):
            time.sleep(dice.uniform(0.0, 1.0))
            restart(database)
            queue_days(folder, corpus, model, edition)
            workers = [worker if worker.is_alive else Child(working, corpus) for worker in workers]
        for worker in workers:
            list(worker.rest())
        finish(corpus)
        look(database, corpus, folder, model)
    row.settle()


def queue_days(folder: Path, corpus: str, model: Path, edition: int) -> None:
    for day in range(DAYS):
        (folder / f"day{day:02}.txt").write_text(said(day, edition), encoding="utf-8")
    enqueue(folder, corpus, embedder=str(model), sizes=SIZES)


def state(corpus: str) -> QueueState:
    with open_queue(corpus, worker="test", lease=60.0) as queue:
        return queue.state()


def finish(corpus: str) -> None:
    """Let a worker that nobody kills do the rest."""
    child = Child(working, corpus)
    until = time.monotonic() + PATIENCE
    for _ in child.rest():
        assert time.monotonic() < until
    assert child.exit_code == 0


def look(database: str, corpus: str, folder: Path, model: Path) -> None:
    now = state(corpus)
    assert (now.todo, now.running, now.failed, now.published) == (0, 0, 0, True), now
    with closing(psycopg.connect(database, autocommit=True)) as connection:
        sql = "SELECT path, count(*) FROM finished WHERE sha256 <> '' GROUP BY path, sha256 HAVING count(*) > 1"
        assert connection.execute(sql).fetchall() == []
        connection.execute("DROP TRIGGER note_finished ON anabranch.files")
    ingest(folder, f"{corpus}-alone", embedder=str(model), sizes=SIZES)
    assert asyncio.run(told(corpus)) == asyncio.run(told(f"{corpus}-alone"))


async def told(corpus: str) -> dict[str, Any]:
    store = await open_corpus(corpus)
    found: dict[str, Any] = {"documents": (await store.info()).documents}
    assert found["documents"] == DAYS
    for arm in ("bm25", "dense"):
        lists = await store.search(arm, ["day 7 in hour 3 of edition 2"], 100_000, Scope())
        found[arm] = dict(zip(lists[0]["ids"], lists[0]["scores"], strict=True))
    chunks = await store.chunks(list(found["dense"]), Scope())
    found["texts"] = {chunk_id: chunk.text for chunk_id, chunk in chunks.items()}
    return found
