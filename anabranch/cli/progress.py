"""Progress on standard error; nothing is drawn where it is not a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from anabranch.cli.output import notes
from anabranch.text.normalization import squeeze

MAX_DETAIL = 40


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
        # A bar in a log file is a line for each step.
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


class StageProgress(Protocol):
    """Told the stage, how much is done and how much there is (0 where nobody knows), and what is being done."""

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None:
        """Show it."""
        ...


@contextmanager
def stages(**labels: str) -> Iterator[StageProgress]:
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
            name = name if len(name) <= MAX_DETAIL else f"...{name[3 - MAX_DETAIL :]}"
            label = f"{labels.get(stage, stage)}  {name}".strip()
            progress.update(tasks[stage], completed=done, total=total or None, description=label)

        yield told
