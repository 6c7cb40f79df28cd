"""`anabranch work`: ingest queued files beside other workers."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from anabranch.cli.shared_options import CorpusOption, EmbedderUrlOption


def work(
    *,
    corpus: CorpusOption = None,
    embedder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The corpus's own embedder, if its folder is elsewhere on this machine."),
    ] = None,
    embedder_url: EmbedderUrlOption = None,
    password: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Tried on protected files; may be repeated. Others can see it in `ps`."),
    ] = None,
) -> None:
    """Ingest what `anabranch ingest --queue` has queued, until nothing is left.

    Run it on as many machines as you like, as often as you like on each. Ctrl-C returns unfinished files to the queue.

    [bold]Example:[/]

    anabranch work --corpus 'postgresql://anna@db.example.org/documents#notes'
    """
    from anabranch.cli.settings_options import context_of
    from anabranch_postgres.queue.queue_view import run_worker

    # Stopping a container or a service must return the jobs as Ctrl-C does; after a kill they wait for the lease.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    address = context_of(corpus=corpus).corpus
    raise typer.Exit(run_worker(address, embedder or "", embedder_url, tuple(password or ())))
