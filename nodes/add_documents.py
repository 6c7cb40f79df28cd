"""Take files into the corpus, for the ingest graph."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

from langgraph.runtime import Runtime

from anabranch.errors import SettingsError
from anabranch.ingestion.ingest_report import FileRow, Status
from anabranch.ingestion.pipeline import ingest as ingest_files
from anabranch.safety.operator import operator
from nodes.settings import Context
from nodes.support.settings_precedence import settle

MOST_FILES = 1_000
"""Files that a result names; a server keeps it whole, in a checkpoint."""

_FIRST: tuple[Status, ...] = ("failed", "skipped", "removed", "updated", "added", "unchanged")


async def add_documents(state: Mapping[str, Any], runtime: Runtime[Context]) -> dict[str, Any]:
    """Ingest the paths, in a worker thread; report per file as the command line does, within bounds."""
    context = settle(None, runtime)
    return await asyncio.to_thread(_work, state["paths"], context)


def _work(paths: Sequence[str], context: Context) -> dict[str, Any]:
    if not paths:
        msg = "There is nothing to ingest: `paths` is empty."
        raise SettingsError(msg, hint="Give files or folders.")
    # Callers of a server must not read the server's other files.
    report = ingest_files(paths, context.corpus, inside=operator().ingest_root)
    told = _told(report.rows)
    counts = {status: report.count(status) for status in get_args(Status)}
    totals = {**counts, "left_out": len(report.rows) - len(told), "seconds": round(report.seconds, 2)}
    return {"files": [asdict(row) for row in told], "totals": totals}


def _told(rows: Sequence[FileRow]) -> Sequence[FileRow]:
    """Return the rows that the state has room for; where these are not all, failures come first, then changes."""
    if len(rows) <= MOST_FILES:
        return rows
    return sorted(rows, key=lambda row: _FIRST.index(row.status))[:MOST_FILES]
