"""Where text goes: results to standard output, everything else to standard error, files whole or not at all."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from rich.console import Console
from rich.table import Table

from anabranch.errors import SettingsError
from anabranch.text.normalization import INVISIBLE, clean

WIDTH = 100
"""Columns where there is no terminal to ask."""

MOST_COLUMNS = 10_000
"""Columns of a table that a program reads; a path may have 4,096 characters."""


class _Output(Console):
    """Standard output, whose reader may leave: `| head` has had what it wanted, which is no failure."""

    def on_broken_pipe(self) -> None:
        """End the process; rich's own ends it with 1. See `anabranch.cli.failures.guarded`."""
        raise BrokenPipeError


def results() -> Console:
    """Return the console on standard output."""
    # Rich takes 80 columns for a file, which folds tables that fit a page.
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH
    return _Output(highlight=False, markup=False, emoji=False, width=width)


def print_table(table: Table) -> None:
    """Print a table to standard output; for a program a row is a line, as wide as it has to be."""
    console = results()
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        room = console.options.update(max_width=MOST_COLUMNS)
        console.width = max(console.width, console.measure(table, options=room).maximum)
    console.print(table)


def notes() -> Console:
    """Return the console on standard error."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def say(console: Console, text: str, style: str | None = None) -> None:
    """Print text that a document, a model or a provider may have written.

    A terminal obeys escape sequences, so they go. Where there is no terminal nothing is wrapped: a program reads it.
    """
    console.print(clean(text), style=style, soft_wrap=not console.is_terminal)


def say_command(console: Console, text: str, style: str | None = None) -> None:
    """Print a line to be copied: a terminal folds it, where rich would break it in two."""
    console.print(clean(text), style=style, soft_wrap=True)


def write_json(value: Any) -> None:  # noqa: ANN401  # any JSON value
    """Write one JSON value to standard output: indented for a person, on one line for a program."""
    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json_text(value, indent=indent) + "\n")
    sys.stdout.flush()


def json_text(value: Any, *, indent: int | None = None) -> str:  # noqa: ANN401  # any JSON value
    """Return JSON with its letters as they are, and as escapes what nobody sees or a terminal obeys."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    # Text of a document may hold characters that reorder a terminal; JSON can say them without showing them.
    return INVISIBLE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def check_folder(path: Path, option: str) -> None:
    """Refuse a file to write whose folder is not there, before any work is done for it."""
    if not path.parent.is_dir():
        msg = f"The folder of {option}, {path.parent}, does not exist."
        raise SettingsError(msg, hint="Create it first.")
    if path.is_dir():
        msg = f"{option} names a folder, {path}."
        raise SettingsError(msg, hint="Name a file in it.")


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a kill leaves the old one or the new one."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


@contextmanager
def written(output: str) -> Iterator[BinaryIO]:
    """Open what --output names, - for standard output; a file appears whole, and only its owner may read it."""
    if output == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_folder(Path(output), "--output")
    # Access tags and questions are in what is exported.
    with whole_file(Path(output), mode=0o600) as file:
        yield file


@contextmanager
def whole_file(path: Path, *, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a file that appears whole or not at all; a device or a pipe is written as it is.

    Args:
        path: Where to.
        mode: Who may read it, less what the process's umask takes away.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    part = path.with_name(f".{path.name}.part")
    try:
        # With its mode from the first byte on: to narrow it afterwards leaves a moment in which others can open it.
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            yield file
            file.flush()
            # The rename may reach the disk before the words do: a power cut would leave an empty file under the name.
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
