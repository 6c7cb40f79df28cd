"""Aegra over a copy of the checkout's code: needs Python 3.12, so that an interpreter of its own is named.

python3.12 -m venv .venv-aegra
.venv-aegra/bin/pip install -c constraints.txt -r plugins/server/tests/aegra.txt -e '.[serve,postgres]'
export ANABRANCH_TEST_AEGRA=$PWD/.venv-aegra/bin/python
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from plugins.server.tests.dev_server import copy_code, free_port, wait_for
from plugins.server.tests.serve_process import environment_of
from tests.servers.postgres import postgres
from tests.shared_fixtures import REPOSITORY

VARIABLE = "ANABRANCH_TEST_AEGRA"
PINNED = (REPOSITORY / "plugins" / "server" / "tests" / "aegra.txt").read_text(encoding="utf-8").split()[-1]


@dataclass
class AegraServer:
    """A running server: where it listens, and its process."""

    url: str
    process: subprocess.Popen[bytes]


def interpreter() -> str:
    """Return the Python that has aegra; without one the test is skipped, and with another version it fails."""
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(
            f"{VARIABLE} names no Python 3.12 with {PINNED} (plugins/server/tests/aegra_server.py says how to make one)"
        )
    asked = "from importlib.metadata import version; print('aegra-api==' + version('aegra-api'))"
    found = subprocess.run([named, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    assert found == PINNED, f"{VARIABLE} has {found}"
    return named


@contextmanager
def aegra_servers(home: Path, count: int = 1, **variables: str) -> Iterator[list[AegraServer]]:
    """Run servers on one PostgreSQL; more than one share their queue through Redis.

    Args:
        home: An empty folder.
        count: How many.
        **variables: Of their environment, besides the usual ones.
    """
    python = interpreter()
    copy_code(home)
    with ExitStack() as stack:
        address = stack.enter_context(postgres(home / "postgres"))
        shared = {"REDIS_BROKER_ENABLED": "true", "REDIS_URL": stack.enter_context(_redis(home))} if count > 1 else {}
        environment = environment_of(home, PYTHONPATH=str(home), DATABASE_URL=address, **shared, **variables)
        yield [stack.enter_context(_server(python, home, environment)) for _ in range(count)]


@contextmanager
def _redis(home: Path) -> Iterator[str]:
    server = shutil.which("redis-server")
    if server is None:
        pytest.skip("redis-server is not installed")
    port = free_port()
    command = [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(home)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(15)


@contextmanager
def _server(python: str, home: Path, environment: dict[str, str]) -> Iterator[AegraServer]:
    port = free_port()
    log = home / f"aegra-{port}.log"
    # Its own `aegra serve` does not hand SIGTERM on to the server that it starts.
    command = [python, "-m", "uvicorn", "aegra_api.main:app", "--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=output, stderr=subprocess.STDOUT)
    server = AegraServer(f"http://127.0.0.1:{port}", process)
    try:
        wait_for(server.url, process, log, "/health")
        yield server
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
