"""`anabranch serve` as a process of its own, to be used, stopped and killed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PATIENCE = 120.0


@dataclass
class ServeProcess:
    """A running server: where it listens, and its process."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path


def environment_of(home: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a server: this process's without keys and settings, with the corpus in a folder."""
    inherited = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and not k.startswith("ANABRANCH_")}
    return {**inherited, "ANABRANCH_CORPUS": str(home / "corpus"), "LANGSMITH_TRACING": "false", **variables}


def started(home: Path, *options: str, **variables: str) -> ServeProcess:
    """Start a server on a free port, and wait until it listens."""
    environment = environment_of(home, **variables)
    log = home / f"serve-{time.monotonic_ns()}.log"
    command = [sys.executable, "-m", "anabranch.cli", "serve", "--port", "0", *options]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=output, stderr=subprocess.STDOUT)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if found := re.search(r"(http://[\d.]+:\d+)", log.read_text(errors="replace")):
            return ServeProcess(found[1], process, log)
        time.sleep(0.1)
    process.kill()
    pytest.fail(f"the server did not start:\n{log.read_text(errors='replace')[-3000:]}")


@contextmanager
def serving(home: Path, *options: str, **variables: str) -> Iterator[ServeProcess]:
    """Run a server; at the end it is stopped as an operator stops it, and has to go in good order."""
    server = started(home, *options, **variables)
    try:
        yield server
    finally:
        server.process.terminate()
        try:
            assert server.process.wait(60) in (0, -15)
        except subprocess.TimeoutExpired:
            server.process.kill()
            pytest.fail(f"the server did not stop:\n{server.log.read_text(errors='replace')[-3000:]}")
