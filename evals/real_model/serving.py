"""A model server in a child process, and the CPU seconds that it takes."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from anabranch.errors import ModelError

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 180.0

Clock = Callable[[], float]
"""CPU seconds so far."""


@contextmanager
def served(weights: Path, *, context: int, slots: int) -> Iterator[tuple[str, Clock]]:
    """Serve a GGUF file by llama.cpp on one thread; yield its base url and its clock.

    Args:
        weights: The file.
        context: Tokens of a prompt with its reply.
        slots: Prompts whose beginnings are kept: a call that begins like an earlier one does not pay for it again.

    Raises:
        ModelError: It does not start.
    """
    command = [sys.executable, "-m", "tests.servers.llama", str(weights)]
    options = ["--context", str(context * slots), "--parallel", str(slots)]
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(  # noqa: S603  # our own module
            [*command, *options], stdout=subprocess.PIPE, stderr=log, cwd=ROOT, text=True
        ) as server,
    ):
        try:
            yield f"{_address(server)}/v1", lambda: cpu_seconds(server.pid)
        finally:
            server.kill()


def _address(server: subprocess.Popen[str]) -> str:
    """Wait until the server has loaded its model."""
    end = time.monotonic() + PATIENCE
    ready = select.select([server.stdout], [], [], PATIENCE)[0]
    address = server.stdout.readline().strip() if ready and server.stdout else ""
    while address and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=PATIENCE) as reply:  # noqa: S310  # our own child
                reply.read()
                return address
        except urllib.error.HTTPError:  # it says 503 while it loads
            time.sleep(0.5)
    msg = f"llama.cpp's server did not start within {PATIENCE:g} s."
    raise ModelError(msg, hint="pip install xllamacpp; the weights must be a GGUF file.")


def cpu_seconds(process: int) -> float:
    """Return the CPU seconds of a process so far, of all its threads; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
