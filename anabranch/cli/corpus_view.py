"""`anabranch corpus`, for the command line: what it prints, under a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.cli.failures import INTERRUPTED
from anabranch.cli.output import json_text, notes, print_table, results, say, write_json, written
from anabranch.cli.progress import stages
from anabranch.errors import UserError
from anabranch.store.corpus_address import scheme_of, shown_address
from anabranch.store.export import ExportReport, ImportReport, export_corpus, import_corpus
from anabranch.store.maintenance import REMEDIES, Overview, documents, examine, overview, renew
from anabranch.text.normalization import squeeze
from anabranch.text.plural import counted

MAX_LISTED = 100
JSON_HAS_ALL = "--json lists them all"


def show_stats(corpus: str, *, as_json: bool) -> None:
    """Print counts and the list of documents."""
    found = overview(corpus)
    if as_json:
        _write_stats(corpus, found)
    else:
        _print_counts(results(), corpus, found)
        _print_documents(results(), corpus, found)
    if found.problem or not found.is_current:
        said = found.problem or "The index is of an earlier state of the documents."
        say(notes(), f"{said} {found.advice}", style="yellow")


def _write_stats(corpus: str, found: Overview) -> None:
    """Write one JSON object, a document at a time: there may be millions."""
    # Written by hand around the rows, because json.dumps wants the whole list in memory.
    head = json_text(asdict(found))
    sys.stdout.write(f'{head[:-1]}, "sources": [')
    between = ""
    for row in documents(corpus):
        sys.stdout.write(f"{between}{json_text(asdict(row))}")
        # For a program all of it is one line, as everywhere with --json.
        between = ",\n" if sys.stdout.isatty() else ", "
    sys.stdout.write("]}\n")


def _print_counts(console: Console, corpus: str, found: Overview) -> None:
    say(console, found.path, style="bold")
    chunks = f"{found.chunks:,} chunks, {found.leaves:,} of them leaves"
    say(console, f"{counted(found.documents, 'document')}, {found.tokens:,} tokens, {chunks}")
    where = "in the database, all of its corpora together" if scheme_of(corpus) == "postgresql" else "on disk"
    size = f"{found.bytes / 1e6:,.1f} MB {where}"
    say(console, f"generation {found.generation}, embedder {found.embedder} ({found.dimension} dimensions), {size}")


def _print_documents(console: Console, corpus: str, found: Overview) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("source", "title", "chunks", "tokens", "access"):
        table.add_column(name, justify="right" if name in ("chunks", "tokens") else "left", overflow="fold")
    for row in documents(corpus, MAX_LISTED):
        cells = (row.source, row.title, row.chunks, row.tokens, ", ".join(row.access))
        # As `Text`, which is no markup: a file may be called "[bold]".
        table.add_row(*(Text(squeeze(str(cell))) for cell in cells))
    if table.row_count:
        print_table(table)
    if found.documents > MAX_LISTED:
        say(console, f"... and {found.documents - MAX_LISTED:,} more; {JSON_HAS_ALL}.")


STAGES = {"passages": "passages embedded"}


def show_verdict(corpus: str, *, as_json: bool) -> bool:
    """Print what is wrong, and return whether nothing is."""
    with stages(**STAGES) as told:
        found = examine(corpus, told)
    problems = [finding.said for finding in found if not finding.is_remark]
    remarks = [finding.said for finding in found if finding.is_remark]
    if as_json:
        write_json({"sound": not problems, "problems": problems, "remarks": remarks})
        return not problems
    say_first(results(), problems, JSON_HAS_ALL, "red")
    say_first(results(), remarks, JSON_HAS_ALL, "yellow")
    say(results(), f"{shown_address(corpus)} is {'not ' if problems else ''}sound.")
    # Each once and the mildest first: after a rebuild the others may be gone.
    kinds = {finding.kind for finding in found if not finding.is_remark}
    for remedy in (REMEDIES[kind] for kind in REMEDIES if kind in kinds):
        say(results(), remedy)
    return not problems


def say_first(console: Console, lines: Sequence[str], where_all: str, style: str) -> None:
    """Print a line each, up to MAX_LISTED of them, and where the others are."""
    for line in lines[:MAX_LISTED]:
        say(console, f"- {line}", style=style)
    if len(lines) > MAX_LISTED:
        say(console, f"... and {len(lines) - MAX_LISTED} more; {where_all}.")


def rebuild_shown(corpus: str, embedder: str | None, base_url: str | None, *, wait: float) -> None:
    """Make the indexes anew under a progress bar."""
    with stages(**STAGES) as told:
        made = renew(corpus, embedder=embedder, base_url=base_url, wait=wait, progress=told)
    said = f"{made.documents} documents, {made.leaves} passages, generation {made.generation}"
    say(notes(), f"{made.path}: {said}, embedder {made.embedder}.")


def export_shown(corpus: str, output: str, *, vectors: bool) -> int:
    """Export a corpus, say what was lost, and return the exit code: 1 where something was."""
    with written(output) as file, stages(documents="documents") as told:
        report = export_corpus(corpus, file, vectors=vectors, progress=told)
    where = "" if output == "-" else f" to {output}"
    say(notes(), f"Exported {counted(report.documents, 'document')}{where}.")
    _tell_losses(report)
    return 0 if report.is_complete else 1


def _tell_losses(report: ExportReport) -> None:
    # What cannot be exported is lost unless somebody takes it in again, so each is named.
    lines = [f"{torn.source or 'a document'}: {torn.why}" for torn in report.torn]
    for line in report.problems:
        say(notes(), f"- {line}", style="red")
    say_first(notes(), lines, "`anabranch corpus verify --json` lists them all", "red")
    if not report.is_complete:
        say(notes(), "Ingest the folders of what is missing into the corpus that you import this into.")


def import_shown(
    file: str, corpus: str, *, embedder: str | None, base_url: str | None, wait: float, as_json: bool
) -> int:
    """Import a corpus, say what could not be taken in, and return the exit code: 1 where something could not."""
    with _opened(file) as lines, stages(documents="documents") as told:
        report = import_corpus(lines, corpus, embedder=embedder or "", base_url=base_url, wait=wait, progress=told)
    if as_json:
        write_json({**asdict(report), "bad": [bad._asdict() for bad in report.bad]})
    else:
        _tell_import(report, shown_address(corpus))
    if report.interrupted:
        say(notes(), "Interrupted. The corpus is good and holds what was finished. Run the same command to go on.")
        return INTERRUPTED
    return 1 if report.bad else 0


def _tell_import(report: ImportReport, corpus: str) -> None:
    bad = [f"line {bad.line}: {f'{bad.source}: ' if bad.source else ''}{bad.reason}" for bad in report.bad]
    say_first(results(), bad, JSON_HAS_ALL, "red")
    counts = (
        f"{report.added} added, {report.updated} updated, {report.unchanged} unchanged, {len(report.bad)} bad lines"
    )
    embedded = f"{counted(report.embedded, 'passage')} embedded in {report.seconds:.1f} s"
    say(results(), f"{corpus}: {counts}; {embedded}.")


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        lines = Path(file).open("rb")  # noqa: SIM115  # closed below, and only opening it is the user's mistake
    except OSError as error:
        msg = f"{file!r} cannot be read: {error.strerror or error}."
        raise UserError(
            msg, hint="Give a file that `anabranch corpus export` wrote, or - for standard input."
        ) from error
    with lines:
        yield lines
