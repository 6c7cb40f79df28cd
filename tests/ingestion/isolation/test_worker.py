"""The reading process, spoken to directly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from anabranch.ingestion.isolation import worker
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.isolation.reader_process import COMMAND
from anabranch.ingestion.isolation.worker_protocol import (
    Frame,
    Setup,
    Tag,
    leaves,
    order_frame,
    receive,
    send,
    setup_frame,
)
from anabranch.readers import PLAIN


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        yield process
        process.kill()


def pipes(process: subprocess.Popen[bytes]) -> tuple[BinaryIO, BinaryIO]:
    return cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)


def test_it_ends_when_nobody_speaks_to_it_any_more(process: subprocess.Popen[bytes]) -> None:
    orders, replies = pipes(process)
    send(orders, setup_frame(Setup(Limits(), PLAIN, "", (64, 32, 16))))
    assert receive(replies) == Frame(Tag.READY)
    orders.close()
    assert receive(replies) is None
    assert process.wait() == 0


def test_it_ends_when_nobody_listens(process: subprocess.Popen[bytes], tmp_path: Path) -> None:
    orders, replies = pipes(process)
    send(orders, setup_frame(Setup(Limits(), PLAIN, "", (64, 32, 16))))
    receive(replies)
    replies.close()
    (tmp_path / "a.txt").write_text("Herons fish.", encoding="utf-8")
    send(orders, order_frame(tmp_path / "a.txt", "a.txt"))
    assert process.wait() is not None


def test_it_is_spent_after_many_files(process: subprocess.Popen[bytes], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Herons fish.", encoding="utf-8")
    orders, replies = pipes(process)
    send(orders, setup_frame(Setup(Limits(), PLAIN, "", (64, 32, 16))))
    receive(replies)
    for number in range(1, worker.MOST_FILES + 1):
        send(orders, order_frame(tmp_path / "a.txt", "a.txt"))
        first, last = receive(replies), receive(replies)
        assert first is not None
        assert first.tag == Tag.CUT
        assert last is not None
        assert leaves(last) == (number == worker.MOST_FILES)
    assert process.wait() == 0
