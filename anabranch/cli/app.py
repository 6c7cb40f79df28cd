"""The commands and how they are put together."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Annotated

import typer

from anabranch import __version__
from anabranch.cli.ask_command import ask
from anabranch.cli.chat_command import chat
from anabranch.cli.corpus_command import corpus
from anabranch.cli.doctor_command import doctor
from anabranch.cli.eval_command import evaluate
from anabranch.cli.failures import guarded
from anabranch.cli.ingest_command import ingest
from anabranch.cli.key_command import key
from anabranch.cli.mcp_command import mcp
from anabranch.cli.search_command import search
from anabranch.cli.serve_command import serve
from anabranch.cli.threads_command import threads
from anabranch.cli.typer_command import PlainCommand, PlainGroup, only
from anabranch.cli.work_command import work

app = typer.Typer(
    name="anabranch",
    cls=PlainGroup,
    no_args_is_help=True,
    # Typer would offer to write into the startup files of the shell.
    add_completion=False,
    rich_markup_mode="rich",
    # Typer prints tracebacks with the values of variables, and keys are among those; `failures` tells what went wrong.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=PlainCommand)(guarded(ingest))
app.command(cls=PlainCommand)(guarded(work))
app.command(cls=PlainCommand)(guarded(ask))
app.command(cls=PlainCommand)(guarded(chat))
app.command(cls=PlainCommand)(guarded(search))
app.command(cls=PlainCommand)(guarded(serve, for_others=True))
app.command(cls=PlainCommand)(guarded(mcp))
app.command("eval", cls=PlainCommand)(guarded(evaluate))
app.add_typer(corpus, name="corpus")
app.add_typer(threads, name="threads")
app.command(cls=PlainCommand)(guarded(doctor))
app.add_typer(key, name="key")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"anabranch {__version__}")
        raise typer.Exit


@app.callback()
def _anabranch(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Answer questions over your own documents, and show the work.

    [bold]Examples:[/]

    anabranch ingest docs/

    anabranch ask "How do I add a document?"

    anabranch ask "How do I add a document?" --model openai:gpt-5-mini

    It needs no key and no account: without --model the passages that match best are shown.
    """


def main() -> None:
    """Run the command line; text leaves as UTF-8 whatever the locale, and a closed pipe ends it quietly."""
    for stream in (sys.stdout, sys.stderr):
        # A test or a notebook may have put something else in the place of a stream.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        only(app, sys.argv[1] if len(sys.argv) > 1 else "")()
    finally:
        _flush()


def _flush() -> None:
    """Write out what is left; Python would report a reader that has gone (`| head`) on standard error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its exit, which would fail again and be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
