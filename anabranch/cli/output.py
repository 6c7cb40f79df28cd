"""Output: results go to standard output, everything else to standard error; files appear whole or not at all."""

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
"""Columns of the output without a terminal."""

MOST_COLUMNS = 10_000
"""Most columns of a table for a program; a path may have 4,096 characters."""


class _Output(Console):
    """Standard output, whose reader may close it early (`| head`), which is not a failure."""

    def on_broken_pipe(self) -> None:
        """Raise, for `anabranch.cli.failures.guarded`; rich itself would exit with 1."""
        raise BrokenPipeError


def results() -> Console:
    """Return the console on standard output."""
    # Rich assumes 80 columns for a file, which would wrap tables.
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH
    return _Output(highlight=False, markup=False, emoji=False, width=width)


def print_table(table: Table) -> None:
    """Print a table to standard output; without a terminal each row is one line of any width."""
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

    Escape sequences are removed, because a terminal would obey them. Without a terminal, nothing is wrapped.
    """
    console.print(clean(text), style=style, soft_wrap=not console.is_terminal)


def say_command(console: Console, text: str, style: str | None = None) -> None:
    """Print a line to be copied, without the line breaks that rich would insert."""
    console.print(clean(text), style=style, soft_wrap=True)


def write_json(value: Any) -> None:  # noqa: ANN401  # any JSON value
    """Write one JSON value to standard output: indented for a person, on one line for a program."""
    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json_text(value, indent=indent) + "\n")
    sys.stdout.flush()


def json_text(value: Any, *, indent: int | None = None) -> str:  # noqa: ANN401  # any JSON value
    """Return JSON with readable letters; invisible and control characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    # Document text may hold characters that reorder a terminal's output.
    return INVISIBLE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def check_folder(path: Path, option: str) -> None:
    """Refuse an output file whose folder does not exist, before any work is done."""
    if not path.parent.is_dir():
        msg = f"The folder of {option}, {path.parent}, does not exist."
        raise SettingsError(msg, hint="Create it first.")
    if path.is_dir():
        msg = f"{option} names a folder, {path}."
        raise SettingsError(msg, hint="Name a file in it.")


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a kill leaves either the old or the new content."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


@contextmanager
def open_output(output: str) -> Iterator[BinaryIO]:
    """Open the file that --output names, - for standard output; only the owner may read it."""
    if output == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_folder(Path(output), "--output")
    # Exports contain access tags and questions.
    with whole_file(Path(output), mode=0o600) as file:
        yield file


@contextmanager
def whole_file(path: Path, *, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a file that appears whole or not at all; a device or a pipe is written as it is.

    Args:
        path: Where to.
        mode: Permissions, before the umask.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    part = path.with_name(f".{path.name}.part")
    try:
        # Created with its mode: narrowing it later would leave a moment in which others can open it.
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            yield file
            file.flush()
            # Without fsync, a power cut after the rename could leave an empty file.
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
