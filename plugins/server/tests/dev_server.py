"""A development server over a copy of the checkout's code, so that its files stay out of the checkout."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plugins.server.tests.serve_process import Forked, environment_of
from tests.shared_fixtures import REPOSITORY


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def dev_server(home: Path, *, fresh: bool = False, **variables: str) -> Iterator[tuple[str, Path]]:
    """Run `langgraph dev` in an empty folder; return its address and the log, which must tell of no blocking call.

    Args:
        home: The folder.
        fresh: In an interpreter of its own, which begins as a developer's does: three times the processor time.
        **variables: Of its environment, besides the usual ones.
    """
    copy_code(home)
    port = free_port()
    environment = environment_of(home, PYTHONPATH=str(home), LANGGRAPH_NO_VERSION_CHECK="true", **variables)
    options = ["--no-browser", "--no-reload", "--port", str(port), "--n-jobs-per-worker", "4"]
    log = home / "server.log"
    process = (_fresh if fresh else Forked)(home, ["langgraph", "dev", *options], environment, log)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(url, process, log)
        yield url, log
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    text = log.read_text(errors="replace")
    # Tracebacks of the errors that the tests provoke are there; a blocking call would be one that they did not.
    assert "BlockingError" not in text
    assert "Blocking call" not in text


def _fresh(home: Path, command: list[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    program = str(Path(sys.executable).parent / command[0])
    with log.open("wb") as output:
        return subprocess.Popen(
            [program, *command[1:]], cwd=home, env=environment, stdout=output, stderr=subprocess.STDOUT
        )


def copy_code(home: Path) -> None:
    """Put the checkout's code and the samples into a folder."""
    for name in ("anabranch", "graph", "nodes", "prompts", "plugins", "langgraph.json", "pyproject.toml", "README.md"):
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, home / name, symlinks=True, ignore=shutil.ignore_patterns("node_modules", "tests"))
        else:
            shutil.copy(source, home / name)
    shutil.copytree(REPOSITORY / "tests" / "samples", home / "samples")


def wait_for(url: str, process: Forked | subprocess.Popen[bytes], log: Path, path: str = "/ok") -> None:
    """Wait until a server answers."""
    while process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}{path}", timeout=60) as reply:
                if reply.status == 200:
                    return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"the server did not start:\n{log.read_text(errors='replace')[-3000:]}")
