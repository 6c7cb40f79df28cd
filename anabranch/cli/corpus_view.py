"""`anabranch corpus`, for the command line: what it prints, under a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.cli.output import json_text, notes, print_table, results, say, write_json
from anabranch.cli.progress import stages
from anabranch.store.corpus_address import scheme_of, shown_address
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
