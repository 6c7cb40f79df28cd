"""`--docs`: the documents of a folder, taken in before a question is asked."""

from __future__ import annotations

import hashlib
import os
import shlex
from pathlib import Path

import typer

from anabranch.cli.output import notes, say
from anabranch.errors import CorpusEmptyError
from anabranch.store.user_folders import data_folder

WAIT = 10.0
"""Seconds to wait for another process that takes in: two questions may be asked at once."""

MAX_FAILED = 5
"""Files that are named because they could not be read; more are counted."""


def take_in(docs: Path, corpus: str) -> None:
    """Take in what changed in a folder, or in one file.

    What was done, and where the corpus is, becomes one line on standard error; so does each file that failed.

    Args:
        docs: The folder or the file.
        corpus: Where its corpus is kept.

    Raises:
        UserError: There is no such path, or what is to hold the corpus cannot.
        CorpusEmptyError: No file of it could be read.
        typer.Exit: The user pressed Ctrl-C; finished files stay in the corpus.
    """
    from anabranch.cli.ingest_view import counts_of, remark_on, report_interrupt
    from anabranch.cli.progress import stages
    from anabranch.ingestion.pipeline import ingest
    from anabranch.store.corpus_address import shown_address
    from anabranch.text.plural import counted

    with stages(passages="passages embedded", embedder="embedder made, once") as progress:
        report = ingest(docs.expanduser(), corpus, wait=WAIT, progress=progress)
    for warning in report.warnings:
        say(notes(), warning, style="yellow")
    failed = [row for row in report.rows if row.status == "failed"]
    for row in failed[:MAX_FAILED]:
        say(notes(), f"Not read: {row.source}: {remark_on(row)}", style="yellow")
    if len(failed) > MAX_FAILED:
        say(notes(), f"Not read: {counted(len(failed) - MAX_FAILED, 'file')} more.", style="yellow")
    if report.interrupted:
        raise typer.Exit(report_interrupt(report))
    if not any(row.status in ("added", "updated", "unchanged") for row in report.rows):
        msg = f"No file of {str(docs)!r} could be read." if report.rows else f"{str(docs)!r} holds no document."
        raise CorpusEmptyError(msg, hint=f"Why, file by file: anabranch ingest {shlex.quote(str(docs))}")
    say(notes(), f"{docs}: {counts_of(report.rows)}. Corpus: {shown_address(corpus)}", style="dim")


def choose_corpus(docs: Path | None, corpus: str | None) -> str | None:
    """Return the corpus that --docs and --corpus name together; None where neither is given."""
    return corpus if docs is None or corpus is not None else str(default_corpus(docs.expanduser()))


def default_corpus(docs: Path) -> Path:
    """Return where the corpus of a folder is kept: `papers.corpus` beside `papers`, else in the user's data folder.

    The latter is for folders such as /usr/share/doc, beside which the user may not write.
    """
    whole = docs.resolve()
    beside = whole.with_name(f"{whole.name}.corpus") if whole.name else whole
    if whole.name and os.access(beside if beside.exists() else beside.parent, os.W_OK):
        return beside
    # Two folders may have the same name.
    digest = hashlib.sha256(os.fsencode(whole)).hexdigest()[:8]
    return data_folder() / f"{whole.name or 'root'}-{digest}.corpus"
