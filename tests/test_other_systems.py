"""What only Linux has, taken away: the other way is taken, as macOS and Windows take it. No test has run there."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock, SoftFileLock

from anabranch.cli.failures import _is_pipe_closed
from anabranch.ingestion import safe_open
from anabranch.ingestion.isolation.process_limits import Limits, confine, end_after, used_bytes
from anabranch.store.index import segment
from anabranch_server.connection_watch import MOST, most_connections
from anabranch_server.serve_command import _listen


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows lacks these modules and functions; whoever asks for one fails."""
    monkeypatch.setattr(sys, "platform", "win32")
    for module in ("resource", "fcntl", "pwd"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delattr(signal, "setitimer")
    monkeypatch.delattr(os, "sysconf")


@pytest.mark.usefixtures("windows")
def test_windows_has_no_limits_of_processes_and_nothing_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", _missing)  # there is no /proc
    confine(Limits())
    end_after(5)
    assert used_bytes() == 0
    assert most_connections() == MOST


def test_without_proc_the_peak_stands_for_the_memory_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(Path, "read_text", _missing)
    assert used_bytes() > 0


def test_macos_confines_a_process_without_what_only_linux_has() -> None:
    program = (
        "import ctypes, resource, sys\n"
        "from anabranch.ingestion.isolation.process_limits import Limits, confine\n"
        "sys.platform = 'darwin'\n"
        "ctypes.CDLL = None\n"  # prctl is called through it
        "def refused(kind, limits): raise ValueError('current limit exceeds maximum limit')\n"
        "resource.setrlimit = refused\n"  # as macOS does with RLIMIT_AS
        "confine(Limits())\n"
        "print('confined')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "confined\n", done.stderr


def test_without_o_nofollow_a_path_is_opened_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_open, "_BY_NAMES", False)
    monkeypatch.setattr(safe_open, "_FILE", os.O_RDONLY)
    monkeypatch.setattr(safe_open, "_OWN", tmp_path / "no such folder")
    file = tmp_path / "weir.md"
    file.write_text("The weir.")
    with safe_open.pin_path(file, file.resolve()) as pinned:
        assert pinned == file
        assert pinned.read_text() == "The weir."


def test_windows_syncs_files_that_are_open_for_writing_and_no_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment, "_ON_WINDOWS", True)
    opened: list[tuple[Path, int]] = []
    real = os.open

    def noted(path: Any, flags: int, *given: Any, **more: Any) -> int:
        opened.append((Path(path), flags))
        return real(path, flags, *given, **more)

    monkeypatch.setattr(os, "open", noted)
    file = tmp_path / "index"
    file.write_bytes(b"1")
    segment.sync(file)
    segment.sync(tmp_path)
    assert opened == [(file, os.O_RDWR)]


@pytest.mark.loopback
@pytest.mark.parametrize(("platform", "reused"), [("win32", False), ("darwin", True)])
def test_two_servers_never_share_a_port(platform: str, reused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    with _listen("127.0.0.1", 0) as listener:
        assert bool(listener.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)) == reused


def test_without_poll_a_closed_pipe_is_found_when_it_is_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    import select

    monkeypatch.delattr(select, "poll")
    assert not _is_pipe_closed()


def test_where_the_system_has_no_locks_filelock_has_its_own() -> None:
    """Of three kinds it takes the one that the system has; the lock's file is the same."""
    program = "import sys; sys.modules['fcntl'] = None; import filelock; print(filelock.FileLock.__name__)"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == SoftFileLock.__name__, done.stderr
    assert FileLock is not SoftFileLock


def _missing(*given: Any, **more: Any) -> str:
    raise FileNotFoundError
