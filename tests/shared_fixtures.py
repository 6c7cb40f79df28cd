"""What all tests share: where the development data lies, and the offline embedder loaded once."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from anabranch.models import local_servers
from anabranch.safety.operator import environment

SERVERS = local_servers.SERVERS
REPOSITORY = Path(__file__).resolve().parent.parent

# A shell that starts tests in the background has them ignore Ctrl-C, and what they start as well; some tests send one.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Collecting makes thousands of objects that all stay: searched for cycles once, when all are there.
gc.disable()

# How long an example takes says something about the machine, which is shared. The examples are the same in each run, so
# that a test that fails says something about the change; `make exhaustive` draws others each time, and many more.
settings.register_profile("anabranch", deadline=None, max_examples=40, derandomize=True)
settings.register_profile("exhaustive", deadline=None, max_examples=400)
settings.load_profile("anabranch")


def pytest_xdist_auto_num_workers() -> int | None:
    """Return two more than there are cores: tests wait for the servers, databases and browsers that they start."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # xdist's own answer
    return len(os.sched_getaffinity(0)) + 2 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 2


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("anabranch")
    group.addoption("--faults", type=int, default=2, help="how often each fault in tests/faults is tried")
    group.addoption(
        "--fuzz", type=int, default=1, help="how often tests/fuzz tries its few examples: 100 for a long run"
    )
    group.addoption(
        "--attacks",
        type=int,
        default=600,
        help="requests of plugins/server/tests/test_attacks.py: 10000 for a long run",
    )
    group.addoption("--faults-report", default="", help="write a table of the faults, tries and losses to this file")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with slow tests first: side by side, a long file that begins last is what everybody waits for."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Leave what was collected out of each later search for cycles, of which there are some hundred a minute."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _environment_of_its_own() -> Iterator[None]:
    """A process reads its environment once; each test stands for a process."""
    environment.cache_clear()
    yield
    environment.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def _no_model_servers() -> Iterator[None]:
    """Look for no model server on this machine, which may run one."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(local_servers, "SERVERS", ())
        yield


@pytest.fixture(autouse=True)
def _model_servers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for them all the same in tests that may open sockets."""
    if request.node.get_closest_marker("loopback"):
        monkeypatch.setattr(local_servers, "SERVERS", SERVERS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """End a test marked `work(seconds)` after that much processor time, however long the clock says that it took."""
    marker = item.get_closest_marker("work")
    if marker is None or not hasattr(signal, "setitimer"):
        return (yield)

    def end(*_: object) -> None:
        pytest.fail(f"more than {seconds} seconds of processor time: is the work quadratic?")

    (seconds,) = marker.args
    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real documents and question sets that development and CI have beside the checkout."""
    folder = Path(os.environ.get("ANABRANCH_SHARED", REPOSITORY.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"the development data is not here ({folder}); set ANABRANCH_SHARED to its folder")
    return folder
