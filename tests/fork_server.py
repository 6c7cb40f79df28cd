"""The process that children are forked from: it has imported what they need, so that one begins in milliseconds."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

CONTEXT = multiprocessing.get_context("forkserver")
_FAULTS = [f"tests.faults.{file.stem}" for file in (Path(__file__).parent / "faults").glob("test_*.py")]

# All of it in one place: a test process has a single fork server, and whoever starts its first child settles the list.
CONTEXT.set_forkserver_preload(["tests.graph.turn_warmup", "anabranch_server.application", *_FAULTS])
