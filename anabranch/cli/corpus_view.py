"""`anabranch corpus stats`, for the command line."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.cli.output import json_text, notes, results, say
from anabranch.store.maintenance import Overview, documents, overview
from anabranch.text.normalization import squeeze
from anabranch.text.plural import counted

MAX_SHOWN = 100


def show_stats(folder: Path, *, as_json: bool) -> None:
    """Print counts and the list of documents."""
    found = overview(folder)
    if as_json:
        _write_json(folder, found)
    else:
        _print_counts(results(), found)
        _print_table(results(), folder, found)
    if found.problem or not found.is_current:
        said = found.problem or "The index is of an earlier state of the documents."
        say(notes(), f"{said} The next search makes it anew, or `anabranch corpus rebuild`.", style="yellow")


def _write_json(folder: Path, found: Overview) -> None:
    """Write one JSON object, a document at a time: there may be millions."""
    head = json_text({**asdict(found), "dead": found.dead})
    sys.stdout.write(f'{head[:-1]}, "sources": [')
    between = ""
    for row in documents(folder):
        sys.stdout.write(f"{between}{json_text(asdict(row))}")
        between = ",\n" if sys.stdout.isatty() else ", "
    sys.stdout.write("]}\n")


def _print_counts(console: Console, found: Overview) -> None:
    say(console, found.path, style="bold")
    chunks = f"{found.chunks:,} chunks, {found.leaves:,} of them leaves"
    say(console, f"{counted(found.documents, 'document')}, {found.tokens:,} tokens, {chunks}")
    size = f"{found.bytes / 1e6:,.1f} MB on disk"
    say(console, f"generation {found.generation}, embedder {found.embedder} ({found.dimension} dimensions), {size}")
    dead = f", {counted(found.dead, 'row')} of removed passages" if found.dead else ""
    say(console, f"index of {counted(len(found.segments), 'segment')}{dead}")


def _print_table(console: Console, folder: Path, found: Overview) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("source", "title", "chunks", "tokens", "access"):
        table.add_column(name, justify="right" if name in ("chunks", "tokens") else "left", overflow="fold")
    for row in documents(folder, MAX_SHOWN):
        cells = (row.source, row.title, row.chunks, row.tokens, ", ".join(row.access))
        table.add_row(*(Text(squeeze(str(cell))) for cell in cells))
    if table.row_count:
        console.print(table)
    if found.documents > MAX_SHOWN:
        say(console, f"... and {found.documents - MAX_SHOWN:,} more; --json lists them all.")
