"""Files that are queued and then taken in by a worker come to the same corpus as an ingest."""

from __future__ import annotations

import asyncio
import zipfile
from pathlib import Path
from typing import Any

import psycopg
import pymupdf
import pytest

from anabranch import ingest
from anabranch.errors import (
    CorpusNotFoundError,
    CorpusUnreachableError,
    EmbedderMismatchError,
    SettingsError,
)
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.readers import ReadOptions
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from anabranch_postgres import queue_writer
from anabranch_postgres.connection_pool import connect
from anabranch_postgres.database_address import parse_address
from anabranch_postgres.queue import consumer
from anabranch_postgres.queue.consumer import work
from anabranch_postgres.queue.producer import enqueue
from anabranch_postgres.queue.queue_protocol import QueueState, open_queue
from tests.faults.models import make_model

pytestmark = pytest.mark.loopback

SIZES = (64, 32, 16)


def queue(paths: Any, corpus: str, model: str, **more: Any) -> list[tuple[str, str]]:
    return [(row.source, row.status) for row in enqueue(paths, corpus, embedder=model, sizes=SIZES, **more).rows]


def state(corpus: str) -> QueueState:
    with open_queue(corpus, worker="test", lease=9.0) as opened:
        return opened.state()


def contents(corpus: str, *access: str) -> dict[str, Any]:
    """Return what a caller with these tags sees of the corpus, by document."""

    async def listed() -> dict[str, Any]:
        store = await open_corpus(corpus)
        scope = Scope(access=access)
        lists = await store.search("bm25", ["day gauge hour"], 10_000, scope)
        chunks = await store.chunks(lists[0]["ids"], scope)
        dense = await store.search("dense", ["day gauge hour"], 10_000, scope)
        scores = dict(zip(dense[0]["ids"], dense[0]["scores"], strict=True))
        return {i: (chunks[i].text, chunks[i].source, scores[i]) for i in lists[0]["ids"]}

    return asyncio.run(listed())


def test_a_worker_comes_to_the_corpus_that_an_ingest_makes(corpus: str, folder: Path, model: str) -> None:
    statuses = {status for _, status in queue(folder, corpus, model)}
    assert statuses == {"queued"}
    before = state(corpus)
    assert (before.todo, before.running, before.done) == (13, 0, 0)
    report = work(corpus)
    assert report.counts == {"added": 13}
    after = state(corpus)
    assert (after.todo, after.running, after.done, after.failed, after.published) == (0, 0, 13, 0, True)
    ingest(folder, f"{corpus}-alone", embedder=model, sizes=SIZES)
    assert contents(corpus) == contents(f"{corpus}-alone") != {}
    assert {status for _, status in queue(folder, corpus, model)} == {"unchanged"}


def test_what_changed_is_queued_and_what_is_gone_is_removed(corpus: str, folder: Path, model: str) -> None:
    queue(folder, corpus, model)
    work(corpus)
    (folder / "day1.txt").write_text("On day 1 the gauge stood in the hour.", encoding="utf-8")
    (folder / "day2.txt").unlink()
    rows = dict(queue(folder, corpus, model))
    assert (rows["day1.txt"], rows["day2.txt"], rows["day3.txt"]) == ("queued", "removed", "unchanged")
    assert work(corpus).counts == {"updated": 1}
    ingest(folder, f"{corpus}-alone", embedder=model, sizes=SIZES)
    assert contents(corpus) == contents(f"{corpus}-alone")


def test_tags_and_members_of_archives_and_unreadable_files(corpus: str, folder: Path, model: str) -> None:
    with zipfile.ZipFile(folder / "old.zip", "w") as archive:
        for day in (20, 21):
            archive.writestr(f"day{day}.txt", f"On day {day} the gauge stood still.")
        archive.writestr("bad.pdf", b"no PDF")
    (folder / "empty.txt").touch()
    (folder / "film.mp4").write_bytes(b"film")
    rows = dict(queue(folder, corpus, model, access=["staff"], archives=True))
    assert (rows["old.zip"], rows["film.mp4"], rows["empty.txt"]) == ("queued", "skipped", "queued")
    told: list[str] = []
    report = work(corpus, listener=lambda what: told.append(what if isinstance(what, str) else what.source))
    assert report.counts == {"added": 15, "failed": 2}
    assert sorted(told) == ["empty.txt", "old.zip!/bad.pdf"]
    after = state(corpus)
    assert (after.done, after.failed) == (14, 1)
    assert {failure.source for failure in after.failures} == {"empty.txt", "old.zip"}
    assert contents(corpus, "nobody") == {}
    assert {source for _, source, _ in contents(corpus, "staff").values()} >= {
        "old.zip!/day20.txt",
        "hours.jsonl#line1",
    }
    # What was read is not read again; what could not be is.
    rows = dict(queue(folder, corpus, model, archives=True))
    assert (rows["day1.txt"], rows["old.zip"], rows["empty.txt"]) == ("unchanged", "queued", "queued")
    (folder / "empty.txt").unlink()
    (folder / "old.zip").unlink()
    queue(folder, corpus, model)
    assert state(corpus).failures == []
    assert contents(corpus, "staff").keys() == contents(corpus, "staff", "board").keys()


def test_two_folders_with_the_same_names(corpus: str, folder: Path, model: str, tmp_path: Path) -> None:
    queue(folder, corpus, model)
    other = tmp_path / "others"
    other.mkdir()
    (other / "day1.txt").write_text("On day 99 the gauge stood still.", encoding="utf-8")
    queue(other, corpus, model)
    work(corpus)
    assert {"day1.txt", "others/day1.txt"} <= {source for _, source, _ in contents(corpus).values()}


def test_a_name_that_another_worker_takes_in_the_meantime(
    corpus: str, folder: Path, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_writer, "PAUSE", 0.1)
    other = tmp_path / "others"
    other.mkdir()
    (other / "day1.txt").write_text("On day 99 the gauge stood still.", encoding="utf-8")
    queue([folder / "day1.txt"], corpus, model)
    queue(other, corpus, model)
    origin, asked = queue_writer.PostgresQueue.origin, []

    def blind(self: queue_writer.PostgresQueue, source: str) -> str | None:
        asked.append(source)
        # Both workers have looked before either of them wrote.
        return None if len(asked) <= 2 else origin(self, source)

    monkeypatch.setattr(queue_writer.PostgresQueue, "origin", blind)
    monkeypatch.setattr(consumer, "CLAIMED", 1)
    work(corpus)
    assert {"day1.txt", "others/day1.txt"} == {source for _, source, _ in contents(corpus).values()}
    assert state(corpus).failed == 0


def test_a_worker_that_was_thought_dead_writes_nothing(corpus: str, folder: Path, model: str) -> None:
    queue(folder, corpus, model)
    write = queue_writer.PostgresQueue.write
    stolen = []

    def late(self: queue_writer.PostgresQueue, batch: Any, files: Any) -> Any:
        if not stolen:
            stolen.extend(file.path for file in files)
            with connect(parse_address(corpus).database) as other:
                other.execute("UPDATE anabranch.jobs SET worker = 'other', lease = now() + interval '1 second'")
        return write(self, batch, files)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(queue_writer.PostgresQueue, "write", late)
        report = work(corpus)
    # Said to be added at first; what was written was so once.
    assert stolen
    assert report.counts["added"] == 13 - len(stolen) + len(stolen) * 2
    with connect(parse_address(corpus).database) as other:
        (tries,) = other.execute("SELECT array_agg(DISTINCT tries) FROM anabranch.jobs").fetchall()[0]
    ingest(folder, f"{corpus}-alone", embedder=model, sizes=SIZES)
    assert 2 in tries
    assert contents(corpus) == contents(f"{corpus}-alone")


@pytest.mark.parametrize("error", [psycopg.errors.DiskFull("no room"), psycopg.OperationalError("gone")])
def test_a_disk_that_is_full_and_a_database_that_is_gone_for_a_while(
    corpus: str, folder: Path, model: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue(folder, corpus, model)
    finish, times = queue_writer.PostgresQueue._finish, []

    def fails(self: queue_writer.PostgresQueue, records: Any) -> dict[str, int]:
        times.append(records)
        if len(times) in (1, 2):
            raise error
        return finish(self, records)

    monkeypatch.setattr(queue_writer.PostgresQueue, "_finish", fails)
    told: list[Any] = []
    work(corpus, listener=told.append)
    assert len(told) == 2
    assert all("Trying again" in said for said in told)
    ingest(folder, f"{corpus}-alone", embedder=model, sizes=SIZES)
    assert contents(corpus) == contents(f"{corpus}-alone")
    # No finished file is repeated: one transaction has both its documents and the end of its job.
    assert state(corpus).done == 13


def test_ctrl_c_gives_the_rest_back(corpus: str, folder: Path, model: str) -> None:
    queue(folder, corpus, model)

    def stop(stage: str, done: int, total: int, detail: str = "") -> None:
        if stage == "files" and done == 3:
            raise KeyboardInterrupt

    assert work(corpus, progress=stop).interrupted
    with connect(parse_address(corpus).database) as other:
        sql = "SELECT state, tries FROM anabranch.jobs j JOIN anabranch.corpora c ON c.id = j.corpus WHERE c.name = %s"
        left = other.execute(sql, (parse_address(corpus).corpus,)).fetchall()
    assert ("todo", 0) in left
    assert {state for state, _ in left} <= {"todo", "done"}
    work(corpus)
    assert state(corpus).done == 13


def test_workers_wait_while_somebody_queues(corpus: str, folder: Path, model: str) -> None:
    queue(folder, corpus, model)
    with open_queue(corpus, worker="queuing", lease=9.0) as queuing:
        queuing.begin()
        now = state(corpus)
        assert (now.queuing, now.is_idle) == (True, False)
    assert not state(corpus).queuing


def test_a_worker_gives_up_waiting_for_its_database(
    corpus: str, folder: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue(folder, corpus, model)

    def fails(*_: object) -> int:
        raise psycopg.OperationalError("gone")

    monkeypatch.setattr(queue_writer.PostgresQueue, "_finish", fails)
    with pytest.raises(CorpusUnreachableError, match="gone"):
        work(corpus, patience=0.5)


def test_a_file_that_kills_its_reader_is_given_up(
    corpus: str, folder: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_writer, "PAUSE", 0.1)
    with pymupdf.open() as poisoned:
        for number in range(60):
            poisoned.new_page().insert_text((72, 72), [f"Page {number} says that herons wait."] * 40)
        poisoned.save(folder / "poisoned.pdf")
    queue(folder, corpus, model, limits=Limits(seconds=0.001))
    (folder / "day3.txt").unlink()  # nobody can open it here; another machine might
    report = work(corpus)
    assert report.counts == {"added": 12, "failed": 2 * queue_writer.TRIES}
    after = state(corpus)
    assert (after.done, after.failed, after.published) == (12, 2, True)
    reasons = {failure.source: failure.error.split(":")[0] for failure in after.failures}
    assert reasons == {"day3.txt": "unreadable", "poisoned.pdf": "timeout"}


def test_a_job_that_workers_die_of_is_taken_alone_and_then_given_up(corpus: str, folder: Path, model: str) -> None:
    queue(folder, corpus, model)
    with open_queue(corpus, worker="dying", lease=9.0) as dying:
        for tries in range(queue_writer.DEATHS):
            alone = tries >= queue_writer.SUSPECT
            claimed = dying.claim(99, options="", excluded=(), alone=alone)
            assert [job.tries for job in claimed] == [tries + 1] * 13
            assert dying.claim(99, options="", excluded=(), alone=alone) == []
            with connect(parse_address(corpus).database) as other:
                other.execute("UPDATE anabranch.jobs SET lease = now()")
        assert dying.claim(99, options="", excluded=(), alone=True) == []
        assert dying.state().failed == 13
        assert "workers died" in dying.state().failures[0].error
    assert {status for _, status in queue(folder, corpus, model)} == {"queued"}
    assert work(corpus).counts == {"added": 13}


def test_what_cannot_be_is_said(corpus: str, folder: Path, model: str, tmp_path: Path) -> None:
    for address in (str(tmp_path / "c"), "memory:c"):
        with pytest.raises(SettingsError, match="PostgreSQL"):
            work(address)
        with pytest.raises(SettingsError, match="PostgreSQL"):
            queue(folder, address, model)
    assert not (tmp_path / "c").exists()
    with pytest.raises(CorpusNotFoundError):
        work(corpus)
    with pytest.raises(CorpusUnreachableError, match="cannot be reached"):
        work("postgresql://anna@127.0.0.1:9/db")
    with pytest.raises(SettingsError, match="password"):
        queue(folder, corpus, model, options=ReadOptions(("secret",)))
    queue(folder, corpus, model)
    other = str(make_model(tmp_path / "other", seed=1))
    with pytest.raises(EmbedderMismatchError):
        work(corpus, embedder=other)
    with pytest.raises(EmbedderMismatchError):
        ingest(folder, corpus, embedder=other)
    assert state(corpus).todo == 13
