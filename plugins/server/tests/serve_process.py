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

from anabranch.cli import main
from anabranch.safety.operator import environment
from tests.fork_server import CONTEXT

PATIENCE = 120.0


class Forked:
    """A command in a process of the fork server, with the methods of `subprocess.Popen`."""

    def __init__(self, home: Path, command: list[str], variables: dict[str, str], log: Path) -> None:
        # Daemons are ended with the tests, should these be cut short.
        self._process = CONTEXT.Process(target=_be, args=(home, command, variables, log), daemon=True)
        self._process.start()
        self.terminate, self.kill = self._process.terminate, self._process.kill

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("the server", timeout or 0.0)
        return self._process.exitcode


@dataclass
class ServeProcess:
    """A running server: where it listens, and its process."""

    url: str
    process: Forked | subprocess.Popen[bytes]
    log: Path


def environment_of(home: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a server: this process's without keys and settings, with the corpus in a folder."""
    inherited = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and not k.startswith("ANABRANCH_")}
    return {**inherited, "ANABRANCH_CORPUS": str(home / "corpus"), "LANGSMITH_TRACING": "false", **variables}


def started(home: Path, *options: str, fresh: bool = False, **variables: str) -> ServeProcess:
    """Start a server on a free port, and wait until it listens.

    Args:
        home: Its working folder, with the corpus in `corpus`.
        *options: Of the command.
        fresh: In an interpreter of its own, which begins as a user's does: 4 seconds of processor time, and not half of
            one.
        **variables: Of its environment, besides the usual ones.
    """
    log = home / f"serve-{time.monotonic_ns()}.log"
    arguments = ["serve", "--port", "0", *options]
    process: Forked | subprocess.Popen[bytes]
    if fresh:
        command = [sys.executable, "-m", "anabranch.cli", *arguments]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=home, env=environment_of(home, **variables), stdout=output, stderr=subprocess.STDOUT
            )
    else:
        process = Forked(home, ["anabranch", *arguments], environment_of(home, **variables), log)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if log.exists() and (found := re.search(r"(http://[\d.]+:\d+)", log.read_text(errors="replace"))):
            return ServeProcess(found[1], process, log)
        time.sleep(0.1)
    process.kill()
    pytest.fail(f"the server did not start:\n{log.read_text(errors='replace')[-3000:]}")


def _be(home: Path, command: list[str], variables: dict[str, str], log: Path) -> None:
    """Be a command: `anabranch` or `langgraph`."""
    output = os.open(log, os.O_CREAT | os.O_WRONLY, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(home)
    os.environ.clear()
    os.environ.update(variables)
    environment.cache_clear()
    sys.argv = command
    if command[0] == "langgraph":
        from langgraph_cli.cli import cli

        cli()
    main()


@contextmanager
def serving(home: Path, *options: str, fresh: bool = False, **variables: str) -> Iterator[ServeProcess]:
    """Run a server as `started` does; at the end it is stopped as an operator stops it, and has to go in good order."""
    server = started(home, *options, fresh=fresh, **variables)
    try:
        yield server
    finally:
        server.process.terminate()
        try:
            assert server.process.wait(60) in (0, -15)
        except subprocess.TimeoutExpired:
            server.process.kill()
            pytest.fail(f"the server did not stop:\n{server.log.read_text(errors='replace')[-3000:]}")
