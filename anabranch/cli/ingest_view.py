"""Ingesting for the command line: bars while it runs, a table at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import get_args

from rich import box
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table
from rich.text import Text

from anabranch.cli.failures import INTERRUPTED
from anabranch.cli.output import notes, results, say, write_json
from anabranch.cli.progress import bars
from anabranch.ingest.isolation.process_limits import Limits
from anabranch.ingest.pipeline import FileRow, IngestReport, Status, ingest
from anabranch.ingest.pipeline import Progress as Told
from anabranch.readers import PLAIN, ReadOptions
from anabranch.store.index.manifest import current, read_manifest
from anabranch.text.normalization import squeeze

STYLES = {"added": "green", "updated": "cyan", "removed": "magenta", "skipped": "yellow", "failed": "red"}
MAX_FINE = 40
"""Rows of files that went well; past this they are only counted."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asked for."""

    paths: tuple[Path | str, ...]
    corpus: Path
    embedder: str = ""
    base_url: str | None = None
    sizes: tuple[int, int, int] | None = None
    language: str = ""
    access: tuple[str, ...] = ()
    prune: bool = True
    archives: bool = False
    follow_links: bool = False
    private_urls: bool = False
    options: ReadOptions = PLAIN
    limits: Limits = field(default_factory=Limits)
    wait: float = 0.0


def take_in(wanted: Wanted, *, as_json: bool) -> int:
    """Ingest, print what became of each file, and return the exit code: 1 where the corpus is still empty."""
    with _shown() as progress:
        report = ingest(
            wanted.paths,
            wanted.corpus,
            embedder=wanted.embedder,
            base_url=wanted.base_url,
            sizes=wanted.sizes,
            language=wanted.language,
            access=wanted.access,
            prune=wanted.prune,
            archives=wanted.archives,
            follow_links=wanted.follow_links,
            private_urls=wanted.private_urls,
            options=wanted.options,
            limits=wanted.limits,
            wait=wanted.wait,
            progress=progress,
        )
    documents, chunks = _holds(wanted.corpus)
    if as_json:
        write_json([asdict(row) for row in report.rows])
    else:
        _print_table(results(), report)
        say(results(), f"{wanted.corpus} holds {documents} documents in {chunks} chunks.")
    if report.interrupted:
        again = "Run the same command again to go on; what was embedded is not embedded again."
        left = f"{report.left} of the files are left"
        say(notes(), f"Interrupted. The corpus is good and holds {documents} documents; {left}. {again}")
        return INTERRUPTED
    if documents == 0:
        said = "No file could be taken in." if report.rows else "There was no file to take in."
        say(notes(), f"error: {said} The corpus at {wanted.corpus} is empty.", style="red")
        return 1
    return 0


def _holds(corpus: Path) -> tuple[int, int]:
    name = current(corpus)
    if name is None:
        return 0, 0
    manifest = read_manifest(corpus, name)
    return manifest.documents, manifest.chunks


@contextmanager
def _shown() -> Iterator[Told]:
    """Show a bar per stage, from the moment the stage begins."""
    with bars() as progress:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int, detail: str = "") -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=total or None)
            _update(progress, tasks[stage], stage, done, total, detail)

        yield told


def _update(progress: Progress, task: TaskID, stage: str, done: int, total: int, detail: str) -> None:
    name = squeeze(detail)
    name = name if len(name) <= 40 else f"...{name[-37:]}"
    label = {"files": f"files  {name}", "passages": "passages embedded", "index": "index"}.get(stage, stage)
    progress.update(task, completed=done, total=total or None, description=label.strip())


def _print_table(console: Console, report: IngestReport) -> None:
    shown = list(_shown_rows(report))
    if shown:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ("status", "file", "documents", "chunks", "remark"):
            table.add_column(name, justify="right" if name in ("documents", "chunks") else "left", overflow="fold")
        for row in shown:
            table.add_row(*_cells(row), style=None)
        console.print(table)
    counts = [(report.count(status), status) for status in get_args(Status)]
    said = ", ".join(f"{count} {status}" for count, status in counts if count) or "no files"
    say(console, f"{said}; {report.embedded} passages embedded in {report.seconds:.1f} s.")


def _shown_rows(report: IngestReport) -> Iterator[FileRow]:
    """Yield what a person has to see: every failure, and the others where they are few; never the unchanged."""
    fine = sum(row.status in ("added", "updated", "removed") for row in report.rows)
    for row in report.rows:
        troubled = row.status in ("failed", "skipped") or bool(row.notes and row.status != "unchanged")
        if troubled or (row.status != "unchanged" and fine <= MAX_FINE):
            yield row


def _cells(row: FileRow) -> list[Text]:
    name = row.source.rsplit("/", 1)[-1]
    remark = "; ".join([part for part in (row.reason.replace(repr(name), "it"), *row.notes) if part])
    counts = [str(row.documents or ""), str(row.chunks or "")]
    return [
        Text(row.status, style=STYLES.get(row.status, "")),
        *map(Text, (squeeze(row.source), *counts, squeeze(remark))),
    ]
