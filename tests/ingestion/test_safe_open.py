"""What is opened is what was found, whatever is put in its place in between."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.ingestion.safe_open import open_real, pin_path

pytestmark = pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="this system cannot refuse links")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("in/deep/a.txt", "out/a.txt", "out/deep/a.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"from {name}")
    return tmp_path


def file_for_link(home: Path) -> None:
    (home / "in/deep/a.txt").unlink()
    (home / "in/deep/a.txt").symlink_to(home / "out/a.txt")


def folder_for_link(home: Path) -> None:
    (home / "in").rename(home / "former")
    (home / "in").symlink_to(home / "out")


def pipe_for_file(home: Path) -> None:
    (home / "in/deep/a.txt").unlink()
    os.mkfifo(home / "in/deep/a.txt")


SWAPS = [file_for_link, folder_for_link, pipe_for_file]


@pytest.mark.parametrize("swap", SWAPS)
def test_what_was_swapped_before_is_refused(home: Path, swap: Callable[[Path], None]) -> None:
    real = home / "in/deep/a.txt"
    swap(home)
    with pytest.raises(OSError, match=r"a link was put in its place|neither a file nor a folder"):
        open_real(real)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not show a process its descriptors")
@pytest.mark.parametrize("swap", SWAPS)
def test_what_is_swapped_afterwards_makes_no_difference(home: Path, swap: Callable[[Path], None]) -> None:
    (home / "name.md").symlink_to(home / "in/deep/a.txt")
    with pin_path(home / "name.md", home / "in/deep/a.txt") as path:
        swap(home)
        assert path.name == "name.md"
        assert [path.read_text() for _ in range(2)] == ["from in/deep/a.txt"] * 2
    assert not path.is_symlink()


def test_nothing_is_left_open(home: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("this system does not show a process its descriptors")
    before = len(list(descriptors.iterdir()))
    for real in (home / "in/deep/a.txt", home / "in"):
        with pin_path(real, real):
            pass
    for real in (home / "in/none.txt", home / "none/a.txt", home / "in/deep/a.txt/b"):
        with pytest.raises(OSError), pin_path(real, real):
            pass
    assert len(list(descriptors.iterdir())) == before
