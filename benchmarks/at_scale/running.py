"""Runs the phases of a system, each in a fresh process, one after the other and never two at a time."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.at_scale.figures import Figures
from benchmarks.at_scale.material import Material

OURS = "anabranch"
PHASES = ("build", "search", "add")
AGREEMENT = 20_000
"""Passages up to which BM25 scores are compared with those of `rank_bm25`."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How systems are run.

    Attributes:
        folder: Where everything is written.
        searches: Questions per row.
        cap: Seconds that a peer has at one size; None for no end.
        megabytes: Memory that a process may ask for.
        settings: Of hybrid search: depth.
    """

    folder: Path
    searches: int
    cap: float | None
    megabytes: float
    settings: dict[str, Any]


def measured(
    system: str, interpreter: str, material: Material, size: int, terms: Terms, say: Callable[[str], None]
) -> Figures:
    """Return the figures of one system at one size; what fails or takes too long is told in them."""
    home = terms.folder / f"{system}-{size}"
    shutil.rmtree(home, ignore_errors=True)
    figures = Figures(system, size, os.getloadavg()[0])
    end = time.monotonic() + terms.cap if terms.cap and system != OURS else None
    for phase in (*PHASES[:2], "agree", PHASES[2]) if system == OURS and size <= AGREEMENT else PHASES:
        say(f"{size:,} {system}: {phase}")
        figures.hear(_session(system, interpreter, phase, material, home, terms, end, figures), phase)
        if phase in figures.failed:
            break
    shutil.rmtree(home, ignore_errors=True)
    return figures


def _session(
    system: str, interpreter: str, phase: str, material: Material, home: Path, terms: Terms,
    end: float | None, figures: Figures,
) -> list[str]:  # fmt: skip
    told, job = terms.folder / "told.jsonl", terms.folder / "job.json"
    told.write_text("", "utf-8")
    facts = {
        "system": system, "phase": phase, "material": str(material.folder), "folder": str(home), "told": str(told),
        "searches": terms.searches, "megabytes": terms.megabytes, "settings": terms.settings,
    }  # fmt: skip
    job.write_text(json.dumps(facts), "utf-8")
    command = [interpreter, "-m", "benchmarks.at_scale.session", str(job)]
    left = max(0.0, end - time.monotonic()) if end is not None else None
    try:
        status = subprocess.run(command, cwd=ROOT, timeout=left, check=False, capture_output=True, text=True)
        lines = told.read_text("utf-8").splitlines()
        if status.returncode and not any("failed" in json.loads(line) for line in lines):
            figures.failed[phase] = _ending(status)
    except subprocess.TimeoutExpired:
        lines = told.read_text("utf-8").splitlines()
        figures.failed[phase] = f"not done within {(terms.cap or 0) / 60:.0f} min in all"
    return lines


def _ending(status: subprocess.CompletedProcess[str]) -> str:
    if status.returncode < 0:
        return f"ended by {signal.Signals(-status.returncode).name}"
    return (status.stderr.strip().splitlines() or [f"exit code {status.returncode}"])[-1][:160]
