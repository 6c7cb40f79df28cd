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
    """A moment is 20 ms long instead of an hour."""
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


def test_a_file_written_to_a_moment_ago_has_no_lasting_stamp(file: Path) -> None:
    assert lasting_stamp(file) == ""


def test_a_file_that_was_left_alone_for_a_while_has_one(file: Path, quick: None) -> None:
    time.sleep(0.1)
    assert lasting_stamp(file) == stamp_of(file)


def test_a_file_of_the_future_has_none(file: Path, quick: None) -> None:
    """The clock was set back since it was written."""
    later = time.time() + 3600
    os.utime(file, (later, later))
    time.sleep(0.1)
    assert lasting_stamp(file) == ""


def test_a_file_system_of_whole_seconds_gives_no_evidence(file: Path, quick: None) -> None:
    seen = file.stat()
    assert stamps._has_change_time(seen)
    fields = list(seen)
    whole = os.stat_result(fields, {"st_ctime_ns": seen.st_ctime_ns // SECOND * SECOND})
    assert not stamps._has_change_time(whole)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for look in (stamp_of, sha256_of, lasting_stamp):
        with pytest.raises(FileNotFoundError):
            look(tmp_path / "absent")


def test_the_hash_is_that_of_the_bytes(file: Path) -> None:
    assert sha256_of(file) == hashlib.sha256(b"Herons fish.").hexdigest()
