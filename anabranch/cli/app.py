"""The command line: the commands of the core, and those of plugins and other packages."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anabranch import __version__
from anabranch.cli.failures import guarded
from anabranch.cli.typer_command import PlainCommand, PlainGroup
from anabranch.errors import AnabranchError
from anabranch.registry import Registry

if TYPE_CHECKING:
    app: typer.Typer

COMMANDS: Registry[Callable[..., None] | typer.Typer] = Registry(
    "command",
    {
        "ingest": "anabranch.cli.ingest_command:ingest",
        "ask": "anabranch.cli.ask_command:ask",
        "chat": "anabranch.cli.chat_command:chat",
        "search": "anabranch.cli.search_command:search",
        "corpus": "anabranch.cli.corpus_command:corpus",
        "threads": "anabranch.cli.threads_command:threads",
        "doctor": "anabranch.cli.doctor_command:doctor",
    },
)
"""Commands by name: a function with Typer's annotations, or a Typer app with subcommands.

A package adds one through the group of entry points `anabranch.commands`; a dot in the name leads into a group:

    [project.entry-points."anabranch.commands"]
    serve = "anabranch_server.serve_command:serve"
    "corpus.publish" = "anabranch_copies.publish_command:publish"
"""

ORDER = (
    "ingest",
    "work",
    "ask",
    "chat",
    "search",
    "serve",
    "mcp",
    "eval",
    "corpus",
    "threads",
    "doctor",
    "key",
)
"""The order of the commands in `--help`; others follow."""


def __getattr__(name: str) -> Any:  # noqa: ANN401  # `app`, or nothing
    # Created on first use, because it imports all commands, and a run needs only one.
    if name != "app":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    globals()["app"] = made = app_with(_sorted_names())
    return made


def app_with(names: list[str]) -> typer.Typer:
    """Return the command line with these commands."""
    made = typer.Typer(
        name="anabranch",
        cls=PlainGroup,
        no_args_is_help=True,
        # Typer would offer to change the startup files of the shell.
        add_completion=False,
        rich_markup_mode="rich",
        # Typer's tracebacks contain the values of variables, keys among them; `failures` reports errors.
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_anabranch)
    for name in names:
        _add(made, name, name)
    return made


def _sorted_names() -> list[str]:
    top = [name for name in COMMANDS.names if "." not in name]
    return sorted(top, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


def _add(parent: typer.Typer, name: str, entry: str) -> None:
    """Add a command to the command line, or to one of its groups."""
    try:
        found = COMMANDS.get(entry)
    except AnabranchError as error:
        _add_absent(parent, name, error)
        return
    if not isinstance(found, typer.Typer):
        parent.command(name, cls=PlainCommand)(guarded(found))
        return
    group = copy(found)
    group.registered_commands = list(found.registered_commands)
    for inner in COMMANDS.names:
        if inner.startswith(f"{entry}."):
            _add(group, inner.removeprefix(f"{entry}."), inner)
    parent.add_typer(group, name=name)


def _add_absent(parent: typer.Typer, name: str, error: AnabranchError) -> None:
    """Add a command that always fails with the reason why it is missing."""

    def absent() -> None:
        raise error

    from rich.markup import escape

    taken = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    add = parent.command(name, cls=PlainCommand, help=f"[dim]{escape(error.hint)}[/]", context_settings=taken)
    add(guarded(absent))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"anabranch {__version__}")
        raise typer.Exit


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

    You need no key and no account: without --model, the passages that match best are shown.
    """


def main() -> None:
    """Run the command line; output is UTF-8 in any locale, and a closed pipe ends it quietly."""
    for stream in (sys.stdout, sys.stderr):
        # A test or a notebook may have replaced a stream.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        # Only the wanted command is built: each takes milliseconds and may import a plugin.
        app_with([wanted] if wanted in COMMANDS and "." not in wanted else _sorted_names())()
    finally:
        _flush()


def _flush() -> None:
    """Flush standard output; Python itself would report a closed pipe (`| head`) as an error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes again at exit, which would fail and be reported.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
