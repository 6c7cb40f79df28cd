"""What the faults share: how often each is tried, where, on what, and the table of what came of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from anabranch.store.index import merge_policy as draft
from tests.faults.children import SMALL
from tests.faults.models import make_model
from tests.faults.report import Fault, table

NewFault = Callable[[str, str], Fault]

_FAULTS = pytest.StashKey[list[Fault]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            # Each try is bounded by itself; how many there are, the option says.
            item.add_marker(pytest.mark.timeout(3_600))
            if sys.platform != "linux":
                item.add_marker(pytest.mark.skip(reason="asks /proc, kills, and mounts as Linux does"))


def pytest_sessionfinish(session: pytest.Session) -> None:
    file = session.config.getoption("--faults-report")
    faults = session.config.stash.get(_FAULTS, [])
    if file and faults:
        Path(file).write_text(table(faults), encoding="utf-8")


@pytest.fixture
def tries(request: pytest.FixtureRequest) -> int:
    """How often each fault is tried."""
    return int(request.config.getoption("--faults"))


@pytest.fixture
def few(tries: int) -> int:
    """How often a fault is tried that is met seldom, or takes long."""
    return max(2, tries // 4)


@pytest.fixture
def fault(request: pytest.FixtureRequest) -> NewFault:
    """Begin a row of the table."""

    def begin(name: str, looked_at: str) -> Fault:
        new = Fault(name, looked_at)
        request.config.stash.setdefault(_FAULTS, []).append(new)
        return new

    return begin


@pytest.fixture(autouse=True)
def several_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep small segments apart, here as in the children."""
    monkeypatch.setattr(draft, "SMALL", SMALL)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedder of most corpora here."""
    return make_model(tmp_path_factory.mktemp("models") / "table")


@pytest.fixture
def ground() -> Iterator[Path]:
    """A folder in memory where there is one: more tries in the same time."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None))
    yield folder
    shutil.rmtree(folder)


class Disk:
    """A small file system of its own.

    Attributes:
        path: Where it is mounted.
    """

    def __init__(self, path: Path, mebibytes: int) -> None:
        self.path = path
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", path], check=True)

    @property
    def free(self) -> int:
        """Bytes that can still be written."""
        facts = os.statvfs(self.path)
        return facts.f_bavail * facts.f_frsize

    def fill(self, free: int) -> None:
        """Take all room but so much."""
        self.clear()
        with (self.path / "filler").open("wb") as file:
            file.truncate(0)
            os.posix_fallocate(file.fileno(), 0, max(1, self.free - free))

    def clear(self) -> None:
        """Give the room back."""
        (self.path / "filler").unlink(missing_ok=True)

    @contextmanager
    def read_only(self) -> Iterator[Path]:
        """Show all of it at another path, where nothing can be written."""
        view = self.path.with_name("view")
        view.mkdir(exist_ok=True)
        subprocess.run(["mount", "--bind", self.path, view], check=True)
        try:
            subprocess.run(["mount", "-o", "remount,bind,ro", view], check=True)
            yield view
        finally:
            subprocess.run(["umount", view], check=True)

    def close(self) -> None:
        subprocess.run(["umount", "--lazy", self.path], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A file system of 24 MiB, where this process may mount one."""
    path = tmp_path / "disk"
    path.mkdir()
    try:
        mounted = Disk(path, 24)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no file system may be mounted here")
    yield mounted
    mounted.close()
