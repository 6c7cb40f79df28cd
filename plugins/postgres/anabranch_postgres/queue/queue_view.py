"""Queued ingestion for the command line: queuing files, running a worker, and watching the queue."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

from rich.live import Live
from rich.table import Table
from rich.text import Text

from anabranch.cli.failures import INTERRUPTED
from anabranch.cli.ingest_view import print_rows
from anabranch.cli.output import notes, results, say, write_json
from anabranch.cli.progress import stages
from anabranch.ingestion.ingest_report import FileRow
from anabranch.store.corpus_address import shown_address
from anabranch.text.normalization import squeeze
from anabranch.text.plural import counted
from anabranch_postgres.queue.consumer import work
from anabranch_postgres.queue.producer import enqueue
from anabranch_postgres.queue.queue_protocol import QueueState, open_queue

LOOK = 2.0
"""Seconds between two looks at the queue."""


def enqueue_shown(paths: Sequence[Path | str], corpus: str, *, as_json: bool, **options: Any) -> int:  # noqa: ANN401
    """Queue files, print the outcome of each and how to start workers; return the exit code.

    `options` are those of `enqueue`.
    """
    with stages() as progress:
        report = enqueue(paths, corpus, progress=progress, **options)
    if as_json:
        write_json([asdict(row) for row in report.rows])
    else:
        print_rows(results(), report)
    for warning in report.warnings:
        say(notes(), warning, style="yellow")
    if not as_json and (queued := report.count("queued")):
        say(results(), f"{counted(queued, 'file')} queued. Start workers, on as many machines as you like:")
        say(results(), f"  anabranch work --corpus '{shown_address(corpus)}'")
    return int(report.missing > 0)


def run_worker(corpus: str, embedder: str, base_url: str | None, passwords: tuple[str, ...]) -> int:
    """Run a worker, print each failure, and return the exit code."""
    with stages(passages="passages embedded") as progress:
        report = work(
            corpus,
            embedder=embedder,
            base_url=base_url,
            passwords=passwords,
            progress=progress,
            listener=_print_failure,
        )
    done = ", ".join(f"{count} {status}" for status, count in sorted(report.counts.items()))
    say(results(), f"{done or 'no files'}; {counted(report.embedded, 'passage')} embedded in {report.seconds:.1f} s.")
    if report.interrupted:
        say(notes(), "Interrupted. Unfinished files are back in the queue.")
        return INTERRUPTED
    return 0


def watch_queue(corpus: str, *, as_json: bool) -> None:
    """Show the queue of a corpus until it is empty: in place on a terminal, line by line elsewhere."""
    console = results()
    with open_queue(corpus, worker=uuid4().hex, lease=60.0) as queue:
        state = queue.state()
        if as_json:
            write_json(_plain(state))
        elif console.is_terminal:
            with Live(_table(state), console=console, auto_refresh=False) as live:
                while not state.is_idle:
                    time.sleep(LOOK)
                    state = queue.state()
                    live.update(_table(state), refresh=True)
        else:
            say(console, describe_state(state))
            while not state.is_idle:
                time.sleep(LOOK)
                state = queue.state()
                say(console, describe_state(state))
            for failure in state.failures:
                say(console, f"{squeeze(failure.source)}: {squeeze(failure.error)}")


def describe_state(state: QueueState) -> str:
    """Return the state of the queue on one line."""
    rest = "; more is being queued" if state.queuing else "" if state.published else "; not published yet"
    rate = f"{state.files} files and {state.passages} passages in the last minute"
    return (
        f"{state.todo} waiting, {state.running} running at {counted(state.workers, 'worker')}, {state.done} done, "
        f"{state.failed} failed; {rate}{rest}"
    )


def _plain(state: QueueState) -> dict[str, object]:
    return {**state._asdict(), "failures": [failure._asdict() for failure in state.failures]}


def _table(state: QueueState) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_row(Text("queue"), Text(describe_state(state)))
    for failure in state.failures[:20]:
        table.add_row(Text(squeeze(failure.source), style="red"), Text(squeeze(failure.error)))
    return table


def _print_failure(what: FileRow | str) -> None:
    said = what if isinstance(what, str) else f"{what.source}: {what.reason}"
    say(notes(), squeeze(said))
