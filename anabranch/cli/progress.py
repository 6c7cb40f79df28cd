"""Progress on standard error; nothing is drawn where it is not a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import progress as rich_progress
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from anabranch.cli.output import notes
from anabranch.store.writer_protocol import Progress
from anabranch.text.normalization import squeeze

MAX_DETAIL = 40


def bars() -> rich_progress.Progress:
    """Return rich's progress as all commands show it."""
    return rich_progress.Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=notes(),
        # Gone at its end, because what was done is then said in words.
        transient=True,
        # A bar in a log file is a line for each step.
        disable=not notes().is_terminal,
    )


@contextmanager
def bar(label: str, total: int) -> Iterator[Callable[..., None]]:
    """Show one bar of `total` pieces of work; call what is yielded after each, with a new label if there is one."""
    with bars() as progress:
        task = progress.add_task(label, total=total)

        def advance(label: str | None = None) -> None:
            progress.update(task, advance=1, description=label)

        yield advance


@contextmanager
def stages(**labels: str) -> Iterator[Progress]:
    """Show a bar per stage from the moment it begins.

    Args:
        labels: What to call each stage; one that is not among them goes by its name.
    """
    with bars() as progress:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int, detail: str = "") -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=total or None)
            name = squeeze(detail)
            # The end of a path says which file it is.
            name = name if len(name) <= MAX_DETAIL else f"...{name[3 - MAX_DETAIL :]}"
            label = f"{labels.get(stage, stage)}  {name}".strip()
            # Without a total the bar shows that something goes on, and promises no end.
            progress.update(tasks[stage], completed=done, total=total or None, description=label)

        yield told
