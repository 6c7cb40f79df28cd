"""Threads with a reading process each."""

from __future__ import annotations

import threading
from pathlib import Path

from anabranch.ingest.isolation.framing import Tag
from anabranch.ingest.isolation.job_queue import Order, Orders
from anabranch.ingest.isolation.process_limits import Limits
from anabranch.ingest.isolation.supervisor import Crew
from anabranch.ingest.isolation.worker_protocol import Setup
from anabranch.readers import PLAIN
from tests.ingest.isolation.children import COMMAND, scripts

SETUP = Setup(Limits(), PLAIN, "", (64, 32, 16))


def serving() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "anabranch-reading"]


def test_a_crew_that_was_never_needed_starts_and_leaves_nothing() -> None:
    crew = Crew(Orders(1000), SETUP, COMMAND)
    assert len(crew) == 0
    crew.close()
    assert serving() == []


def test_a_crew_ends_in_the_middle_of_its_work(tmp_path: Path) -> None:
    orders = Orders(1000)
    crew = Crew(orders, SETUP, COMMAND)
    placed = [Order(file.path, file.source) for file in scripts(tmp_path, "many 1000 100", "hang", "say three")]
    for order in placed:
        orders.place(order)
        crew.enlarge()
    frame = orders.take(placed[0], 30)
    assert frame is not None
    assert frame.tag == Tag.CUT
    assert len(crew) == 3
    crew.close()
    assert serving() == []
