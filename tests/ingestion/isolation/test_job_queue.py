"""The hand-over between those who read and the one who takes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import OperationError
from anabranch.ingestion.isolation.job_queue import Job, JobQueue
from anabranch.ingestion.isolation.worker_protocol import Frame, Tag


def serve(jobs: JobQueue, sizes: dict[str, list[int]]) -> None:
    while (job := jobs.next()) is not None:
        for size in sizes[job.source]:
            if not jobs.wait_for_room(job, size):
                return
            jobs.put(job, Frame(Tag.CUT, bytes(size)))
        jobs.put(job, Frame(Tag.END))


@given(st.lists(st.lists(st.integers(0, 300), max_size=6), max_size=8), st.integers(1, 3))
def test_everything_arrives_in_order_and_nobody_waits_for_ever(files: list[list[int]], servers: int) -> None:
    jobs, sizes = JobQueue(200), {str(number): size for number, size in enumerate(files)}
    threads = [threading.Thread(target=serve, args=(jobs, sizes)) for _ in range(servers)]
    for thread in threads:
        thread.start()
    placed = [Job(Path(source), source) for source in sizes]
    for job in placed:
        jobs.place(job)
    for job in placed:
        taken = []
        while (frame := jobs.take(job, 30)) is not None and frame.tag != Tag.END:
            assert jobs._held <= 500  # the bound, and one frame of the file whose turn it is
            taken.append(len(frame.body))
        assert taken == sizes[job.source]
    jobs.close()
    for thread in threads:
        thread.join()


def test_patience_has_an_end() -> None:
    jobs, job = JobQueue(10), Job(Path("a"), "a")
    jobs.place(job)
    assert jobs.take(job, 0.01) is None
    assert jobs.waiting == 1


def test_what_came_before_a_fault_is_not_lost() -> None:
    jobs, job = JobQueue(10), Job(Path("a"), "a")
    jobs.put(job, Frame(Tag.CUT, b"x"))
    jobs.fail(OperationError("No process."))
    jobs.fail(OperationError("Another."))
    assert jobs.take(job, 1) == Frame(Tag.CUT, b"x")
    with pytest.raises(OperationError, match="No process"):
        jobs.take(job, 1)


def test_those_who_wait_are_sent_home() -> None:
    jobs, later = JobQueue(10), Job(Path("b"), "b")
    answers: list[object] = []
    waiting = [
        threading.Thread(target=lambda: answers.append(jobs.next())),
        threading.Thread(target=lambda: answers.append(jobs.wait_for_room(later, 100))),
    ]
    for thread in waiting:
        thread.start()
    jobs.close()
    for thread in waiting:
        thread.join()
    assert {None, False} == set(answers)
