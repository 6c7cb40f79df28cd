"""Progress on standard error; nothing is drawn where it is not a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from anabranch.cli.output import notes


class Advance(Protocol):
    """Moves a bar on."""

    def __call__(self, label: str | None = None) -> None:
        """Count one more, under a new label if one is given."""
        ...


def bars() -> Progress:
    """Return rich's progress as all commands show it."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=notes(),
        transient=True,
        disable=not notes().is_terminal,
    )


@contextmanager
def bar(label: str, total: int) -> Iterator[Advance]:
    """Show one bar of `total` pieces of work."""
    with bars() as progress:
        task = progress.add_task(label, total=total)

        def advance(label: str | None = None) -> None:
            progress.update(task, advance=1, description=label)

        yield advance
