"""Take files into the corpus, for the ingest graph."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from langgraph.runtime import Runtime

from anabranch.corpus.ingest import ingest as ingest_files
from anabranch.errors import SettingsError
from anabranch.settings import operator
from graph.context import Context, settle


async def ingest(state: Mapping[str, Any], runtime: Runtime[Context]) -> dict[str, Any]:
    """Ingest the paths, in a worker thread; report per file as the command line does."""
    context = settle(None, runtime)
    return await asyncio.to_thread(_work, state["paths"], context)


def _work(paths: Sequence[str], context: Context) -> dict[str, Any]:
    root = Path(operator().ingest_root).resolve()
    wanted = [_inside(root, path) for path in paths]
    if not wanted:
        msg = "There is nothing to ingest: `paths` is empty."
        raise SettingsError(msg, hint="Give files or folders.")
    report = ingest_files(wanted, Path(context.corpus))
    return {"files": [asdict(row) for row in report.rows], "totals": {"seconds": round(report.seconds, 2)}}


def _inside(root: Path, path: str) -> Path:
    """Refuse a path outside the root: callers of a server must not read the server's other files."""
    found = (root / path).resolve()
    if not found.is_relative_to(root):
        msg = f"The path {path!r} is outside the folder that this server may read."
        raise SettingsError(msg, hint="The operator sets ANABRANCH_INGEST_ROOT.")
    return found
