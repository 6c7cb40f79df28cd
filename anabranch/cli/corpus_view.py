"""The output of `anabranch corpus`."""

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
from anabranch.safety.link_removal import make_plain, name_source
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
        problem = found.problem or "The index is older than the documents."
        say(notes(), f"{problem} {found.advice}", style="yellow")


def _write_stats(corpus: str, found: Overview) -> None:
    """Write one JSON object, a document at a time: there may be millions."""
    # Written piece by piece, because json.dumps needs the whole list in memory.
    head = json_text(asdict(found))
    sys.stdout.write(f'{head[:-1]}, "sources": [')
    between = ""
    for row in documents(corpus):
        sys.stdout.write(f"{between}{json_text(asdict(row))}")
        # Without a terminal, everything is one line, as always with --json.
        between = ",\n" if sys.stdout.isatty() else ", "
    sys.stdout.write("]}\n")


def _print_counts(console: Console, corpus: str, found: Overview) -> None:
    say(console, found.path, style="bold")
    chunks = f"{found.chunks:,} chunks, {found.leaves:,} of them leaves"
    say(console, f"{counted(found.documents, 'document')}, {found.tokens:,} tokens, {chunks}")
    where = "in the database, with all its corpora" if scheme_of(corpus) == "postgresql" else "on disk"
    size = f"{found.bytes / 1e6:,.1f} MB {where}"
    say(console, f"generation {found.generation}, embedder {found.embedder} ({found.dimension} dimensions), {size}")


def _print_documents(console: Console, corpus: str, found: Overview) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("source", "title", "chunks", "tokens", "access"):
        table.add_column(name, justify="right" if name in ("chunks", "tokens") else "left", overflow="fold")
    for row in documents(corpus, MAX_LISTED):
        cells = (name_source(row.source), make_plain(row.title), row.chunks, row.tokens, ", ".join(row.access))
        # As `Text`, without markup: a file may be called "[bold]".
        table.add_row(*(Text(squeeze(str(cell))) for cell in cells))
    if table.row_count:
        print_table(table)
    if found.documents > MAX_LISTED:
        say(console, f"... and {found.documents - MAX_LISTED:,} more; {JSON_HAS_ALL}.")


STAGES = {"passages": "passages embedded", "embedder": "embedder made, once"}


def show_verdict(corpus: str, *, as_json: bool) -> bool:
    """Print the problems of a corpus; return whether there are none."""
    with stages(**STAGES) as progress:
        found = examine(corpus, progress)
    problems = [finding.said for finding in found if not finding.is_remark]
    remarks = [finding.said for finding in found if finding.is_remark]
    if as_json:
        write_json({"sound": not problems, "problems": problems, "remarks": remarks})
        return not problems
    say_first(results(), problems, JSON_HAS_ALL, "red")
    say_first(results(), remarks, JSON_HAS_ALL, "yellow")
    say(results(), f"{shown_address(corpus)} is {'not ' if problems else ''}sound.")
    # Each remedy once, the mildest first: a rebuild may already solve the other problems.
    kinds = {finding.kind for finding in found if not finding.is_remark}
    for remedy in (REMEDIES[kind] for kind in REMEDIES if kind in kinds):
        say(results(), remedy)
    return not problems


def say_first(console: Console, lines: Sequence[str], where_all: str, style: str) -> None:
    """Print up to MAX_LISTED lines, and `where_all` tells where to find the others."""
    for line in lines[:MAX_LISTED]:
        say(console, f"- {line}", style=style)
    if len(lines) > MAX_LISTED:
        say(console, f"... and {len(lines) - MAX_LISTED} more; {where_all}.")


def run_rebuild(corpus: str, embedder: str | None, base_url: str | None, *, wait: float) -> None:
    """Rebuild the indexes under a progress bar."""
    with stages(**STAGES) as progress:
        made = renew(corpus, embedder=embedder, base_url=base_url, wait=wait, progress=progress)
    size = f"{made.documents} documents, {made.leaves} passages"
    say(notes(), f"{made.path}: {size}, generation {made.generation}, embedder {made.embedder}.")
