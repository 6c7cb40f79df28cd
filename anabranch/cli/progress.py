"""Progress on standard error; nothing is drawn where it is not a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich import progress as rich_progress
from rich.progress import BarColumn, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from anabranch.cli.output import notes
from anabranch.store.writer_protocol import Progress
from anabranch.text.normalization import squeeze

MAX_DETAIL = 40
# Columns of a terminal that a stage's name and its figures take, and from which on there is room for a bar.
FIGURES, WITH_BAR = 60, 90


def bars() -> rich_progress.Progress:
    """Return rich's progress as all commands show it."""
    console = notes()
    return rich_progress.Progress(
        TextColumn("{task.description}"),
        *([BarColumn(bar_width=min(40, console.width - WITH_BAR))] if console.width > WITH_BAR else []),
        _Figures(),
        console=console,
        # Gone at its end, because what was done is then said in words.
        transient=True,
        # A bar in a log file is a line for each step.
        disable=not console.is_terminal,
    )


class _Figures(ProgressColumn):
    """How much is done, how fast, since when, and how long it will still take."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        now = time.monotonic()
        since, last = task.fields["since"], task.fields["last"]
        done, total = int(task.completed), None if task.total is None else int(task.total)
        return Text(figures(done, total, task.fields["begun"], last - since, now - since), style="cyan")


def figures(done: int, total: int | None, begun: int, spent: float, elapsed: float) -> str:
    """Return what is said of a stage.

    Args:
        done: Pieces that are done.
        total: Of how many; None where nobody knows.
        begun: How many were done when the stage was first shown.
        spent: Seconds until the last of them was done.
        elapsed: Seconds until now.
    """
    said = [f"{done:,}" if total is None else f"{done:,}/{total:,}"]
    made = done - begun
    if made and spent >= 1:
        said.append(f"{made / spent:,.{0 if made >= 10 * spent else 1}f}/s")
    said.append(str(timedelta(seconds=int(elapsed))))
    if made and total is not None:
        # By what all pieces took so far. A piece that takes longer than that leaves nothing to promise.
        left = spent / made * (total - done) - (elapsed - spent)
        if left >= 1:
            said.append(f"{left:.0f} s left" if left < 90 else f"{left / 60:.0f} min left")
    return "  ".join(said)


def _shown(progress: rich_progress.Progress, label: str, done: int, total: int) -> TaskID:
    now = time.monotonic()
    return progress.add_task(label, total=total or None, completed=done, begun=done, since=now, last=now)


@contextmanager
def bar(label: str, total: int) -> Iterator[Callable[..., None]]:
    """Show one bar of `total` pieces of work; call what is yielded after each, with a new label if there is one."""
    with bars() as progress:
        task = _shown(progress, label, 0, total)

        def advance(label: str | None = None) -> None:
            progress.update(task, advance=1, description=label, last=time.monotonic())

        yield advance


@contextmanager
def stages(**labels: str) -> Iterator[Progress]:
    """Show a bar per stage from the moment it begins.

    Args:
        labels: What to call each stage; one that is not among them goes by its name.
    """
    with bars() as progress:
        tasks: dict[str, TaskID] = {}
        # A stage is told of again while one piece goes on: its clock goes by the last that was done.
        last: dict[str, tuple[int, float]] = {}
        room = min(MAX_DETAIL, progress.console.width - FIGURES)

        def told(stage: str, done: int, total: int, detail: str = "") -> None:
            if stage not in tasks:
                tasks[stage] = _shown(progress, stage, done, total)
            label = f"{labels.get(stage, stage)}  {_end_of(detail, room)}".strip()
            if stage not in last or last[stage][0] != done:
                last[stage] = (done, time.monotonic())
            # Without a total the bar shows that something goes on, and promises no end.
            progress.update(tasks[stage], completed=done, total=total or None, description=label, last=last[stage][1])

        yield told


def _end_of(detail: str, room: int) -> str:
    """Return as much of a path as there is room for; its end says which file it is."""
    name = squeeze(detail)
    if len(name) <= room:
        return name
    return f"...{name[3 - room :]}" if room > 10 else ""
