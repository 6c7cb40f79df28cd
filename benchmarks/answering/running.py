"""Runs the model server, and each system in a process of its own, one after the other and never two at a time."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import ROOT
from benchmarks.answering.calls import read_calls
from benchmarks.answering.figures import Figures
from benchmarks.answering.rows import FLOOR, OURS, SERVER

OWN = {FLOOR, OURS, SERVER}
"""Systems that run in this environment."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How systems are run.

    Attributes:
        repeats: Turns per row that count.
        warm: Whether one goes before that does not.
        together: Questions at once.
        rounds: How often that many.
        latency: Seconds of the model server before the first token.
        per_token: Seconds from each token to the next.
        cap: Seconds that one system has.
        batches: Calls for relevances that wait for each other; 0 for none.
        pipelines: Letters of those that are run.
    """

    repeats: int
    warm: bool
    together: int
    rounds: int
    latency: float
    per_token: float
    cap: float
    batches: int = 0
    pipelines: str = "ABCDF"


@contextmanager
def model_server(log: Path, terms: Terms) -> Iterator[str]:
    """Serve the model in a process of its own; yield its address.

    Raises:
        RuntimeError: It does not start.
    """
    pace = ["--latency", str(terms.latency), "--per-token", str(terms.per_token), "--batches", str(terms.batches)]
    command = [sys.executable, "-m", "benchmarks.answering.server", str(log), *pace]
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, cwd=ROOT, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            ready, _, _ = select.select([server.stdout], [], [], 300)
            address = server.stdout.readline().strip() if ready else ""
            if not address:
                said.seek(0)
                raise RuntimeError(f"the model server did not start: {said.read()[-500:]}")
            yield address
        finally:
            server.terminate()


def measured(
    system: str, interpreter: str, folder: Path, material: Path, terms: Terms, say: Callable[[str], None]
) -> Figures:
    """Return the figures of one system; what fails or takes too long is told in them."""
    say(f"{system}: load {os.getloadavg()[0]:.1f}")
    log, told, job = (folder / name for name in ("calls.jsonl", "told.jsonl", "job.json"))
    for file in (log, told):
        file.write_text("", "utf-8")
    with model_server(log, terms) as base_url:
        facts = {
            "system": system, "material": str(material), "queries": str(folder / "queries"), "folder": str(folder),
            "told": str(told), "base_url": base_url, **asdict(terms),
        }  # fmt: skip
        job.write_text(json.dumps(facts), "utf-8")
        failed = _session([interpreter, "-m", "benchmarks.answering.session", str(job)], terms.cap)
    lines = [json.loads(line) for line in told.read_text("utf-8").splitlines()]
    if failed and not any("failed" in line and "row" not in line for line in lines):
        lines.append({"failed": failed})
    return Figures(system, lines, read_calls(log))


def _session(command: list[str], cap: float) -> str:
    """Run a session; return why it ended early, or nothing."""
    # No system may report to anybody while it is measured.
    quiet = {"HAYSTACK_TELEMETRY_ENABLED": "False", "LANGSMITH_TRACING": "false", "ANONYMIZED_TELEMETRY": "False"}
    try:
        ended = subprocess.run(
            command, cwd=ROOT, timeout=cap, check=False, capture_output=True, text=True, env={**os.environ, **quiet}
        )
    except subprocess.TimeoutExpired:
        return f"not done within {cap / 60:.0f} min"
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    return (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1] if ended.returncode else ""
