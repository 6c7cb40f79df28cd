"""What a person sees while a turn runs: the answer as it grows, and which step is at work.

On a terminal the growing answer is drawn in place and taken away at the end, because the verified text that follows may
differ from what was streamed: markers renumbered, claims marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from anabranch.cli.output import notes, results, say
from anabranch.text.normalization import clean

LABELS = {
    "begin": "opening the corpus",
    "condense": "reading the conversation",
    "rewrite": "choosing what to search for",
    "retrieve": "searching",
    "fuse": "joining the lists",
    "rerank": "ordering the passages",
    "merge": "joining neighbouring passages",
    "grade": "judging the evidence",
    "pack": "choosing how to answer",
    "create": "writing",
    "refine": "reading on",
    "map": "reading all windows",
    "installed": "writing",
    "gather": "laying out the parts",
    "reduce": "joining the parts",
    "cite": "checking the quotes",
    "abstain": "finding no answer",
    "finish": "finishing",
}
MARGIN = 4
"""Lines of the terminal left to the status and to what stood above."""


class LiveAnswer:
    """Draws the answer so far above a line that says what is going on, or that line alone."""

    def __init__(self, *, shows_answer: bool = True, told: Console | None = None) -> None:
        """Begin with nothing said; where the answer is not drawn, `told` has what was found before there is one."""
        self._shows_answer = shows_answer
        self._told = told
        self._text = ""
        self._message_id: str | None = None
        self._spinner = Spinner("dots", Text("starting", style="dim"), style="cyan")

    def token(self, text: str, message_id: str | None) -> None:
        """Append a piece of the answer; another message takes the place of what was shown."""
        # A refined answer comes as another message; put behind the first it would be read twice.
        self._text = self._text + text if message_id == self._message_id else text
        self._message_id = message_id

    def event(self, event: Mapping[str, Any]) -> None:
        """Say which step has begun; a draft takes the place of the one before."""
        if event.get("status") == "started":
            self._spinner.update(text=Text(label_of(event), style="dim"))
        elif isinstance(event.get("answer"), str):
            self._text = event["answer"]
            if event.get("status") == "waiting" and self._told is not None:
                say(self._told, f"{self._text}\n", style="dim")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the last lines that fit: a terminal cannot scroll what is drawn in place."""
        # Cleaned as a whole and not piece by piece: an accent may come in the piece after its letter.
        if self._shows_answer:
            lines = Text(clean(self._text)).wrap(console, options.max_width)
            yield from lines[-max(console.height - MARGIN, 1) :]
        yield self._spinner


def label_of(event: Mapping[str, Any]) -> str:
    """Return a step's name in plain words."""
    step = str(event.get("step", ""))
    return LABELS.get(step, step)


@contextmanager
def watching(*, answer: bool) -> Iterator[LiveAnswer]:
    """Show a turn where there is a terminal to show it on.

    Args:
        answer: Whether the answer itself may be drawn; JSON output has only the status line.
    """
    out = results()
    shown = answer and out.is_terminal
    console = out if shown else notes()
    live = LiveAnswer(shows_answer=shown, told=None if shown else console)
    # Without a terminal rich would write every frame one below the other, into somebody's file.
    is_drawn = console.is_terminal
    with Live(live, console=console, transient=True, refresh_per_second=12) if is_drawn else nullcontext():
        yield live
