"""Progress on standard error: drawn on a terminal, a line a minute in a pipe or a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread

from rich import progress as rich_progress
from rich.progress import BarColumn, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from anabranch.cli.output import notes, say
from anabranch.store.writer_protocol import Progress
from anabranch.text.normalization import squeeze

MAX_DETAIL = 40
# Columns that a stage's name and figures take, and the least width of a terminal with a bar.
FIGURES, WITH_BAR = 60, 90


SECONDS_BETWEEN_LINES = 60.0


@contextmanager
def bars() -> Iterator[rich_progress.Progress]:
    """Show rich's progress as all commands do."""
    console = notes()
    progress = rich_progress.Progress(
        TextColumn("{task.description}"),
        *([BarColumn(bar_width=min(40, console.width - WITH_BAR))] if console.width > WITH_BAR else []),
        _Figures(),
        console=console,
        # Erased at the end, because a summary follows.
        transient=True,
        # In a log file, a bar would be a line for each step.
        disable=not console.is_terminal,
    )
    over = Event()
    # A thread, because one scan or one long paper may take longer than the time between two lines.
    lines = Thread(target=_write_lines, args=(progress, over), daemon=True)
    if progress.disable:
        lines.start()
    try:
        with progress:
            yield progress
    finally:
        over.set()
        if progress.disable:
            lines.join()


def _write_lines(progress: rich_progress.Progress, over: Event) -> None:
    while not over.wait(SECONDS_BETWEEN_LINES):
        for task in progress.tasks:
            if not task.finished:
                say(notes(), f"{task.description}  {_Figures().render(task)}")


class _Figures(ProgressColumn):
    """The amount done, the speed, the elapsed and the remaining time."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        now = time.monotonic()
        since, last = task.fields["since"], task.fields["last"]
        done, total = int(task.completed), None if task.total is None else int(task.total)
        return Text(figures(done, total, task.fields["begun"], last - since, now - since), style="cyan")


def figures(done: int, total: int | None, begun: int, spent: float, elapsed: float) -> str:
    """Return the figures of a stage as text.

    Args:
        done: Finished pieces.
        total: All pieces, None if unknown.
        begun: Pieces that were finished when the stage was first shown.
        spent: Seconds until the last piece was finished.
        elapsed: Seconds until now.
    """
    parts = [f"{done:,}" if total is None else f"{done:,}/{total:,}"]
    made = done - begun
    if made and spent >= 1:
        parts.append(f"{made / spent:,.{0 if made >= 10 * spent else 1}f}/s")
    parts.append(str(timedelta(seconds=int(elapsed))))
    if made and total is not None:
        # Estimated from the average so far; if the current piece takes longer, nothing is promised.
        left = spent / made * (total - done) - (elapsed - spent)
        if left >= 1:
            parts.append(f"{left:.0f} s left" if left < 90 else f"{left / 60:.0f} min left")
    return "  ".join(parts)


def _add_task(progress: rich_progress.Progress, label: str, done: int, total: int) -> TaskID:
    now = time.monotonic()
    return progress.add_task(label, total=total or None, completed=done, begun=done, since=now, last=now)


@contextmanager
def bar(label: str, total: int) -> Iterator[Callable[..., None]]:
    """Show a bar for `total` pieces; yield a function to call after each piece, optionally with a new label."""
    with bars() as progress:
        task = _add_task(progress, label, 0, total)

        def advance(label: str | None = None) -> None:
            progress.update(task, advance=1, description=label, last=time.monotonic())

        yield advance


@contextmanager
def stages(**labels: str) -> Iterator[Progress]:
    """Show a bar per stage from the moment it begins.

    Args:
        labels: The label of each stage; without one, its name is shown.
    """
    with bars() as progress:
        tasks: dict[str, TaskID] = {}
        # A stage may report again during one piece; the speed counts from the last finished piece.
        last: dict[str, tuple[int, float]] = {}
        room = min(MAX_DETAIL, progress.console.width - FIGURES)

        def update(stage: str, done: int, total: int, detail: str = "") -> None:
            if stage not in tasks:
                tasks[stage] = _add_task(progress, stage, done, total)
            label = f"{labels.get(stage, stage)}  {_shorten_path(detail, room)}".strip()
            if stage not in last or last[stage][0] != done:
                last[stage] = (done, time.monotonic())
            # Without a total, the bar shows activity but no end.
            progress.update(tasks[stage], completed=done, total=total or None, description=label, last=last[stage][1])

        yield update


def _shorten_path(path: str, room: int) -> str:
    """Return the end of a path, which names the file, as far as there is room."""
    name = squeeze(path)
    if len(name) <= room:
        return name
    return f"...{name[3 - room :]}" if room > 10 else ""
