"""Bars for work that goes through stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import TaskID

from anabranch.cli.progress import bars

Told = Callable[[str, int, int], None]
"""Told the stage, how much is done and how much there is (0 where nobody knows)."""


@contextmanager
def stages(**labels: str) -> Iterator[Told]:
    """Show a bar per stage from the moment it begins.

    Args:
        labels: What to call each stage; one that is not among them goes by its name.
    """
    with bars() as progress:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(labels.get(stage, stage), total=total or None)
            progress.update(tasks[stage], completed=done, total=total or None)

        yield told
