"""Evidence that a file did not change."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.ingestion import change_detection as stamps
from anabranch.ingestion.change_detection import lasting_stamp, sha256_of, stamp_of

SECOND = 1_000_000_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("Herons fish.", encoding="utf-8")
    return path


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system whose clock ticks every 20 ms instead of every two seconds."""
    monkeypatch.setattr(stamps, "_MARGIN", SECOND // 50)


CHANGES: dict[str, Callable[[Path], object]] = {
    "longer": lambda path: path.write_text("Herons fish at dawn.", encoding="utf-8"),
    "as long": lambda path: path.write_text("Swifts sleep", encoding="utf-8"),
    "as long and set back": lambda path: (path.write_text("Swifts sleep", encoding="utf-8"), os.utime(path, (1, 1))),
    "another file": lambda path: (path.with_name("b").write_text("Swifts sleep"), path.with_name("b").replace(path)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_shows(file: Path, change: Callable[[Path], object]) -> None:
    os.utime(file, (1, 1))
    before = stamp_of(file)
    time.sleep(0.02)
    change(file)
    assert stamp_of(file) != before


def test_a_stamp_stays_while_nothing_changes(file: Path) -> None:
    before = stamp_of(file)
    file.read_bytes()
    assert stamp_of(file) == before


def test_a_file_written_to_a_moment_ago_has_no_lasting_stamp(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "_MARGIN", 3600 * SECOND)  # the machine may be busy: what a moment is, is said here
    assert lasting_stamp(file, tmp_path) == ""


def test_a_file_that_was_left_alone_for_a_while_has_one(file: Path, tmp_path: Path, quick: None) -> None:
    time.sleep(0.1)
    assert lasting_stamp(file, tmp_path) == stamp_of(file)


def test_a_file_of_the_future_has_none(file: Path, tmp_path: Path, quick: None) -> None:
    """The clock was set back since it was written."""
    later = time.time() + 3600
    os.utime(file, (later, later))
    time.sleep(0.1)
    assert lasting_stamp(file, tmp_path) == ""


def test_a_file_system_of_whole_seconds_gives_no_evidence(file: Path, tmp_path: Path, quick: None) -> None:
    seen = file.stat()
    assert stamps._tells_changes(seen)
    fields = list(seen)
    whole = os.stat_result(fields, {"st_ctime_ns": seen.st_ctime_ns // SECOND * SECOND})
    assert not stamps._tells_changes(whole)


def test_the_clock_of_another_file_system_is_not_trusted(tmp_path: Path, quick: None) -> None:
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is one file system only")
    file = other / f"anabranch-{os.getpid()}"
    try:
        file.write_text("Herons fish.", encoding="utf-8")
        time.sleep(0.1)
        assert lasting_stamp(file, tmp_path) == ""
        assert lasting_stamp(file, other) == stamp_of(file)
    finally:
        file.unlink()


def test_without_a_clock_there_is_no_evidence(file: Path, tmp_path: Path, quick: None) -> None:
    time.sleep(0.1)
    assert lasting_stamp(file, tmp_path / "absent") == ""


def test_asking_the_time_leaves_nothing_behind(file: Path, tmp_path: Path) -> None:
    lasting_stamp(file, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for look in (stamp_of, sha256_of, lambda path: lasting_stamp(path, tmp_path)):
        with pytest.raises(FileNotFoundError):
            look(tmp_path / "absent")


def test_the_hash_is_that_of_the_bytes(file: Path) -> None:
    assert sha256_of(file) == hashlib.sha256(b"Herons fish.").hexdigest()
