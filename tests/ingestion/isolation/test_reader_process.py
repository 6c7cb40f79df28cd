"""The parent's side of one reading process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from anabranch.errors import OperationError, ReadingError
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.isolation.reader_process import ReaderProcess
from anabranch.ingestion.isolation.worker_protocol import Setup, Tag, parse_part
from anabranch.readers import PLAIN
from tests.ingestion.isolation.children import COMMAND, scripts

SETUP = Setup(Limits(seconds=0.5), PLAIN, "", (64, 32, 16))


@pytest.fixture
def process(tmp_path: Path) -> Iterator[ReaderProcess]:
    with closing(ReaderProcess(SETUP, tmp_path, COMMAND)) as process:
        process.greet()
        yield process


def order(process: ReaderProcess, folder: Path, line: str) -> None:
    (file,) = scripts(folder, line)
    process.order(file.path, file.source)


def test_an_order_is_answered(process: ReaderProcess, tmp_path: Path) -> None:
    order(process, tmp_path, "say hello there")
    head = process.head()
    assert head is not None
    frame = process.body(*head)
    assert frame is not None
    part = parse_part(frame)
    assert not isinstance(part, ReadingError)
    assert part.document.blocks[0].text == "hello there"  # type: ignore[union-attr]
    assert process.head() == (Tag.END, 17)
    assert process.orders == 1


def test_only_a_process_that_is_waited_for_can_be_too_slow(process: ReaderProcess, tmp_path: Path) -> None:
    process.kill_if_silent()
    order(process, tmp_path, "say still here")
    assert process.head() is not None


def test_what_was_said_of_an_earlier_file_says_nothing_of_a_later_one(process: ReaderProcess, tmp_path: Path) -> None:
    order(process, tmp_path, "warn MemoryError")
    for _ in range(2):
        head = process.head()
        assert head is not None
        process.body(*head)
    order(process, tmp_path, "exit")
    assert process.head() is None
    assert process.fault("b.pdf").message == "the process that was reading 'b.pdf' died (exit code 3: no luck)."


def test_a_process_that_was_closed_answers_nothing_and_can_be_closed_again(
    process: ReaderProcess, tmp_path: Path
) -> None:
    process.kill()
    order(process, tmp_path, "say hello")
    assert process.head() is None
    process.close()


def test_one_that_talks_nonsense_is_ended_and_blamed(tmp_path: Path) -> None:
    program = "import sys, time; sys.stdout.write('nonsense' * 99); sys.stdout.flush(); time.sleep(1000)"
    with closing(ReaderProcess(SETUP, tmp_path, (sys.executable, "-c", program))) as process:
        with pytest.raises(OperationError, match="did not start"):
            process.greet()
        assert process.fault("a.pdf").reason == "crashed"


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match="absent"):
        ReaderProcess(SETUP, tmp_path, (str(tmp_path / "absent"),))
