"""Show a running turn: the growing answer and the current step.

On a terminal the draft is drawn in place and erased at the end, because the verified answer may differ from it.
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
    "widen": "searching all documents",
    "follow": "looking for what has to be known first",
    "survey": "listing all passages",
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
"""Lines of the terminal that stay free for the status and earlier output."""


class LiveAnswer:
    """Draws the answer so far above a status line, or the status line alone."""

    def __init__(self, *, shows_answer: bool = True, draft_console: Console | None = None) -> None:
        """Start empty; `draft_console` prints the passages found before the answer where nothing is drawn."""
        self._shows_answer = shows_answer
        self._draft_console = draft_console
        self._text = ""
        self._message_id: str | None = None
        self._searched = self._searching = 0
        self._spinner = Spinner("dots", Text("starting", style="dim"), style="cyan")

    def token(self, text: str, message_id: str | None) -> None:
        """Append a piece of the answer; a new message replaces the text so far."""
        # A refined answer is a new message; appended to the first, it would appear twice.
        self._text = self._text + text if message_id == self._message_id else text
        self._message_id = message_id

    def event(self, event: Mapping[str, Any]) -> None:
        """Show which step has started; a new draft replaces the one before."""
        status = event.get("status")
        if status == "started":
            if event.get("step") != "retrieve":
                # A second search counts anew.
                self._searched = self._searching = 0
            self._show_status(event)
        elif status in ("searching", "searched"):
            if status == "searching":
                self._searching += event["lists"]
            else:
                self._searched += event["lists"]
            self._show_status(event)
        elif status == "estimate":
            say(notes(), price_of(event), style="dim")
        elif isinstance(event.get("answer"), str):
            self._text = event["answer"]
            if status == "waiting" and self._draft_console is not None:
                say(self._draft_console, f"{self._text}\n", style="dim")

    def _show_status(self, event: Mapping[str, Any]) -> None:
        count = f": {self._searched} of {self._searching} lists" if self._searching else ""
        self._spinner.update(text=Text(f"{label_of(event)}{count}", style="dim"))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the last lines that fit: a terminal cannot scroll what is drawn in place."""
        # Cleaned as a whole: an accent may come in the piece after its letter.
        if self._shows_answer:
            lines = Text(clean(self._text)).wrap(console, options.max_width)
            yield from lines[-max(console.height - MARGIN, 1) :]
        yield self._spinner


def label_of(event: Mapping[str, Any]) -> str:
    """Return a step's name in plain words."""
    step = str(event.get("step", ""))
    return LABELS.get(step, step)


def price_of(event: Mapping[str, Any]) -> str:
    """Return what reading whole documents may take, before it begins."""
    read = f"Windows to read: {event['windows']:,}" if event["windows"] else "Not read, for its price"
    most = "about" if event["rows"] else "at most"  # more where a window has many hits
    return f"{read}: {most} {event['calls']:,} model calls and {event['tokens']:,} tokens."


@contextmanager
def watching(*, answer: bool) -> Iterator[LiveAnswer]:
    """Show a turn while it runs, if there is a terminal.

    Args:
        answer: Whether the answer itself may be drawn; JSON output has only the status line.
    """
    out = results()
    is_visible = answer and out.is_terminal
    console = out if is_visible else notes()
    live = LiveAnswer(shows_answer=is_visible, draft_console=None if is_visible else console)
    # Without a terminal, rich would write every frame into the output.
    is_drawn = console.is_terminal
    with Live(live, console=console, transient=True, refresh_per_second=12) if is_drawn else nullcontext():
        yield live
