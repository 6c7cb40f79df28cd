"""The output of `anabranch ingest`: progress bars, then a table."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, get_args

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.cli.failures import INTERRUPTED
from anabranch.cli.output import notes, print_table, results, say, write_json
from anabranch.cli.progress import stages
from anabranch.errors import CorpusEmptyError
from anabranch.ingestion.pipeline import FileRow, IngestReport, Status, ingest
from anabranch.store.corpus_address import shown_address
from anabranch.store.stores import open_corpus
from anabranch.text.normalization import squeeze
from anabranch.text.plural import counted

if TYPE_CHECKING:
    from anabranch.agent.nodes.settings import Context

STYLES = {
    "added": "green",
    "updated": "cyan",
    "queued": "cyan",
    "removed": "magenta",
    "skipped": "yellow",
    "failed": "red",
}
MAX_ALIKE = 3
"""Rows of files that were skipped for the same reason; more become one row."""
MAX_FINE = 40
"""Rows of successful files; more are only counted."""


def run_ingest(
    paths: Sequence[Path | str],
    corpus: str,
    *,
    as_json: bool,
    summarised_by: Context | None = None,
    **options: Any,  # noqa: ANN401
) -> int:
    """Ingest, print the result of each file, and return the exit code.

    It is 1 if the corpus is still empty, or if the files of most of its documents are missing. With `summarised_by`,
    the chat model of these settings then writes summaries. `options` are those of `ingest`.
    """
    if summarised_by is not None:
        from anabranch.cli.summaries_view import check_model

        check_model(summarised_by)
    with stages(passages="passages embedded", embedder="embedder made, once") as progress:
        report = ingest(paths, corpus, progress=progress, **options)
    # Counted in the corpus, because a run that changed nothing still reports what the corpus holds.
    documents, chunks = asyncio.run(_holds(corpus))
    if as_json:
        write_json([asdict(row) for row in report.rows])
    else:
        print_rows(results(), report)
        say(results(), f"{shown_address(corpus)} holds {counted(documents, 'document')} in {counted(chunks, 'chunk')}.")
    for warning in report.warnings:
        say(notes(), warning, style="yellow")
    if report.interrupted:
        return report_interrupt(report, f" and holds {counted(documents, 'document')}")
    # By what the corpus holds: if only this run failed, it answers as before.
    if documents == 0:
        problem = "No file could be ingested." if report.rows else "No file was found."
        say(notes(), f"error: {problem} The corpus at {shown_address(corpus)} is empty.", style="red")
        return 1
    if summarised_by is not None:
        from anabranch.cli.summaries_view import run_summaries

        code = run_summaries(corpus, summarised_by, notes() if as_json else results())
        return code or int(report.missing > 0)
    return int(report.missing > 0)


def report_interrupt(report: IngestReport, holds: str = "") -> int:
    """Say after Ctrl-C how to go on, and return the exit code; `holds` is what the corpus holds, if it was counted."""
    left = f"{counted(report.left, 'file')} left. Run the same command to continue; nothing is embedded twice."
    say(notes(), f"Interrupted. The corpus is intact{holds}; {left}")
    return INTERRUPTED


async def _holds(corpus: str) -> tuple[int, int]:
    try:
        info = await (await open_corpus(corpus)).info()
    except CorpusEmptyError:
        return 0, 0
    return info.documents, info.chunks


def print_rows(console: Console, report: IngestReport) -> None:
    """Print the results of the files, and the counts."""
    rows = list(_visible_rows(report))
    if rows:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ("status", "file", "documents", "chunks", "remark"):
            table.add_column(name, justify="right" if name in ("documents", "chunks") else "left", overflow="fold")
        for row in _merge_alike(rows):
            table.add_row(*_cells(row))
        print_table(table)
    embedded = "" if report.count("queued") else f"; {counted(report.embedded, 'passage')} embedded"
    say(console, f"{counts_of(report.rows) or 'no files'}{embedded} in {report.seconds:.1f} s.")


def counts_of(rows: Sequence[FileRow]) -> str:
    """Return the number of files per status; empty for none."""
    counts = Counter(row.status for row in rows)
    return ", ".join(f"{counts[status]} {status}" for status in get_args(Status) if counts[status])


def _visible_rows(report: IngestReport) -> Iterator[FileRow]:
    """Yield every failure, and the successes if they are few; never the unchanged files."""
    fine = sum(row.status in ("added", "updated", "queued", "removed") for row in report.rows)
    for row in report.rows:
        # One failure must stay visible among ten thousand successes.
        has_remark = row.status in ("failed", "skipped") or bool(row.notes and row.status != "unchanged")
        if has_remark or (row.status != "unchanged" and fine <= MAX_FINE):
            yield row


def _merge_alike(rows: Sequence[FileRow]) -> Iterator[FileRow]:
    """Yield the rows; many files skipped for the same reason become one row."""
    alike: defaultdict[str, list[FileRow]] = defaultdict(list)
    for row in rows:
        if row.status == "skipped":
            alike[remark_on(row)].append(row)
    for row in rows:
        others = alike.get(remark_on(row), []) if row.status == "skipped" else []
        if len(others) <= MAX_ALIKE:
            yield row
        elif row is others[0]:
            kinds = Counter(PurePath(other.source).suffix.lower() or "without an extension" for other in others)
            counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
            yield replace(
                row, source=f"{row.source} and {len(others) - 1} more", reason=remark_on(row), notes=(counts,)
            )


def remark_on(row: FileRow) -> str:
    """Return the remark on a file, without its name, which stands beside it."""
    return "; ".join(part for part in (row.reason.replace(repr(row.source), "it"), *row.notes) if part)


def _cells(row: FileRow) -> list[Text]:
    counts = [str(row.documents or ""), str(row.chunks or "")]
    return [
        Text(row.status, style=STYLES.get(row.status, "")),
        *map(Text, (squeeze(row.source), *counts, squeeze(remark_on(row)))),
    ]
