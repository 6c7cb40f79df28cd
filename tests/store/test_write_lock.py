"""One writer at a time, and whoever has to wait is told for whom."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from anabranch.errors import CorpusLockedError, SettingsError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.maintenance import rebuild, remove
from anabranch.store.write_lock import hold_write_lock

HOLD = """
import sys
from pathlib import Path
from anabranch.store.write_lock import hold_write_lock
with hold_write_lock(Path(sys.argv[-1])):
    print("held", flush=True)
    sys.stdin.read()
"""
WRITE = """
import sys
from pathlib import Path
from anabranch.store.write_lock import hold_write_lock
folder = Path(sys.argv[1])
for _ in range(25):
    with hold_write_lock(folder, wait=50):
        before = int((folder / "count").read_text())
        (folder / "count").write_text(str(before + 1))
"""
READ_ONLY = """
import os, sys
from pathlib import Path
from anabranch.store.write_lock import hold_write_lock
from anabranch.errors import SettingsError
os.setgid(65534)
os.setuid(65534)
try:
    with hold_write_lock(Path(sys.argv[1]), wait=5):
        print("written")
except SettingsError as error:
    print(error)
"""


@contextmanager
def held(folder: Path, *words: str) -> Iterator[int]:
    """Another process holds the lock, until it is told to end."""
    command = [sys.executable, "-c", HOLD, *words, str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield process.pid
    finally:
        process.communicate(b"")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.md").write_text("# Herons\n\nHerons fish.\n", encoding="utf-8")
    ingest([tmp_path / "d"], tmp_path / "c")
    return tmp_path / "c"


@pytest.mark.parametrize(
    "write",
    [lambda corpus: ingest([corpus.parent / "d"], corpus), rebuild, lambda corpus: remove(corpus, ["a.md"])],
    ids=["ingest", "rebuild", "remove"],
)
def test_a_second_writer_is_told_who_the_first_is(corpus: Path, write: Callable[[Path], object]) -> None:
    with held(corpus, "ingest", "--password", "secret") as pid:
        who = re.escape(f"process {pid} on {socket.gethostname()} (python ingest), since 2")
        with pytest.raises(CorpusLockedError, match=who) as caught:
            write(corpus)
        assert "secret" not in str(caught.value)
    assert ingest([corpus.parent / "d"], corpus).count("unchanged") == 1


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.communicate()
    assert (tmp_path / "writer").exists()
    with (
        hold_write_lock(tmp_path),
        pytest.raises(CorpusLockedError, match=f"by process {os.getpid()} on"),
        hold_write_lock(tmp_path),
    ):
        pass


@pytest.mark.parametrize("content", [b"", b" ", b"\xff"])
def test_a_name_that_cannot_be_read_is_another_processs(tmp_path: Path, content: bytes) -> None:
    with hold_write_lock(tmp_path):
        (tmp_path / "writer").write_bytes(content)
        with pytest.raises(CorpusLockedError, match="by another process"), hold_write_lock(tmp_path):
            pass


def test_a_name_is_one_line_whatever_is_in_the_file(tmp_path: Path) -> None:
    with hold_write_lock(tmp_path):
        (tmp_path / "writer").write_text("a\n\x1b[31mb" * 1000)
        with pytest.raises(CorpusLockedError) as caught, hold_write_lock(tmp_path):
            pass
    assert len(caught.value.message) < 400 + len(str(tmp_path))
    assert "\n" not in caught.value.message
    assert "\x1b" not in caught.value.message


def test_a_writer_that_waits_says_for_whom_once_and_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    entered: list[str] = []

    def second() -> None:
        with hold_write_lock(tmp_path, wait=50):
            entered.append("second")

    thread = threading.Thread(target=second)
    with hold_write_lock(tmp_path):
        thread.start()
        while not caplog.records:
            threading.Event().wait(0.05)
        entered.append("first")
    thread.join()
    assert entered == ["first", "second"]
    (record,) = caplog.records
    assert f"process {os.getpid()} on" in record.getMessage()
    assert "Waiting for 50 seconds" in record.getMessage()


def test_waiting_ends(tmp_path: Path) -> None:
    with hold_write_lock(tmp_path), pytest.raises(CorpusLockedError), hold_write_lock(tmp_path, wait=0.3):
        pass


def test_several_processes_that_wait_write_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    processes = [subprocess.Popen([sys.executable, "-c", WRITE, str(tmp_path)]) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    assert (tmp_path / "count").read_text() == "100"


def test_the_lock_is_free_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), hold_write_lock(tmp_path):
        raise ZeroDivisionError
    with hold_write_lock(tmp_path):
        pass
    assert not (tmp_path / "writer").exists()


def test_what_is_no_folder_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot be written to"), hold_write_lock(tmp_path / "file"):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
def test_a_folder_that_cannot_be_written_to_is_said_to_be() -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        folder.chmod(0o555)
        command = [sys.executable, "-c", READ_ONLY, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path.cwd())
        assert f"The corpus at {folder} cannot be written to: Permission denied." in done.stdout
    finally:
        shutil.rmtree(folder)
