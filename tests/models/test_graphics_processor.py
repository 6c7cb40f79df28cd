"""Where a graphics processor is looked for, and what is said where nobody can look."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from anabranch.models.graphics_processor import may_have_processor


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ([], False),
        (["tty0", "dri/renderD128", "nvme0"], False),
        (["nvidiactl"], True),
        (["nvidia0"], True),
        (["nvhost-gpu"], True),
        (["kfd"], True),
        (["dxg"], True),
    ],
)
def test_on_linux_the_files_of_drivers_tell(
    files: list[str], found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert may_have_processor(tmp_path) is found


@pytest.mark.parametrize(
    ("system", "machine", "found"), [("darwin", "arm64", True), ("darwin", "x86_64", False), ("win32", "AMD64", True)]
)
def test_elsewhere_the_machine_tells_or_nobody_knows(
    system: str, machine: str, found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert may_have_processor(tmp_path) is found


def test_where_there_are_no_devices_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert not may_have_processor(tmp_path / "absent")
