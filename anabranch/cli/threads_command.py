"""`anabranch threads`: the conversations of `ask --thread` and `chat`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.failures import guarded
from anabranch.cli.shared_options import CorpusOption, JsonOption
from anabranch.cli.typer_command import PlainCommand, PlainGroup

threads = typer.Typer(
    cls=PlainGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="The conversations of ask --thread and of chat, stored beside the corpus.",
)

NAMES = "Ids of threads, or shell patterns."


@threads.command("list", cls=PlainCommand)
@guarded
def list_(*, corpus: CorpusOption = None, as_json: JsonOption = False) -> None:
    """List the conversations, the latest first.

    [bold]Example:[/]  anabranch threads list --corpus papers.corpus
    """
    # Imported in each command, because `anabranch --help` must not wait for LangGraph.
    from anabranch.cli.threads_view import list_threads

    asyncio.run(list_threads(_address(corpus), as_json=as_json))


@threads.command(cls=PlainCommand)
@guarded
def show(
    thread: Annotated[str, typer.Argument(metavar="ID", help="As list shows it.")],
    *,
    corpus: CorpusOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the questions and answers of a conversation, with their sources.

    [bold]Example:[/]  anabranch threads show papers
    """
    from anabranch.cli.threads_view import show_thread

    asyncio.run(show_thread(_address(corpus), thread, as_json=as_json))


@threads.command(cls=PlainCommand)
@guarded
def delete(
    names: Annotated[list[str], typer.Argument(metavar="ID...", help=NAMES)], *, corpus: CorpusOption = None
) -> None:
    """Delete conversations, and remove their text from the file.

    [bold]Example:[/]  anabranch threads delete 'chat-2025*'
    """
    from anabranch.cli.threads_view import delete_threads

    asyncio.run(delete_threads(_address(corpus), names))


@threads.command(cls=PlainCommand)
@guarded
def export(
    names: Annotated[list[str] | None, typer.Argument(metavar="ID...", help=f"{NAMES} Without any, all.")] = None,
    *,
    corpus: CorpusOption = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - for the screen.")
    ] = "-",
    rows: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write the rows that ask --rows listed last in thread ID.")
    ] = None,
) -> None:
    """Write conversations as lines of JSON: thread, changed, and turns with question, answer and sources.

    [bold]Example:[/]  anabranch threads export --output threads.jsonl
    """
    from anabranch.cli.threads_view import export_rows, export_threads

    if rows is not None:
        raise typer.Exit(0 if asyncio.run(export_rows(_address(corpus), names or [], rows)) else 1)
    asyncio.run(export_threads(_address(corpus), names or [], output))


def _address(given: str | None) -> str:
    from anabranch.cli.settings_options import context_of

    return context_of(corpus=given).corpus
