"""A chat on the command line: each line is a question as `ask --thread` asks it, or a command that begins with `/`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

from anabranch.agent.graph.dependencies import load_corpus, load_model
from anabranch.agent.nodes.settings import Context
from anabranch.cli.answer_view import print_answer, print_sources
from anabranch.cli.ask_turn import Request, TurnResult, show_waiting, show_work, turn_of
from anabranch.cli.failures import report
from anabranch.cli.output import notes, results, say, say_command
from anabranch.cli.review_prompt import chat_command
from anabranch.cli.threads import thread_config

PROMPT = "> "
COMMANDS = {
    "/sources": "what the last answer is taken from",
    "/explain": "how the last answer came to be",
    "/new": "begin another conversation; /new NAME to name it",
    "/help": "this list",
    "/quit": "leave, as Ctrl-D does",
}


class ChatSession:
    """One sitting; the conversation is kept on disk, so that it can be continued."""

    def __init__(
        self, context: Context, filters: dict[str, Any] | None, *, thread: str | None, corpus: str | None
    ) -> None:
        """Take the settings of every question; `corpus` is named in the command that goes on, None if it needs not."""
        self._context = context
        self._filters = filters
        self._corpus = corpus
        self._begin(thread)

    def _begin(self, thread: str | None) -> None:
        self._thread = thread or f"chat-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
        thread_config(self._thread)  # an id that cannot be used is refused now
        self._last: tuple[TurnResult, Request] | None = None

    def run(self) -> None:
        """Ask and answer until the lines end.

        Raises:
            UserError: The corpus or the model cannot be used; what goes wrong with one question ends nothing.
        """
        # One event loop for all questions: clients of models keep their connections in it. Typing happens outside of
        # it, so that a Ctrl-C there is the terminal's and one during an answer cancels that answer.
        with asyncio.Runner() as runner:
            runner.run(_usable(self._context))
            if sys.stdin.isatty():
                said = self._context.model or "No chat model: answers are the passages' sentences that match best"
                say(notes(), f"{said}. /help shows the commands.", style="dim")
            for line in typed_lines():
                if line in ("/quit", "/exit"):
                    break
                try:
                    self._obey(runner, line)
                except KeyboardInterrupt:
                    say(notes(), "Stopped.")
                except Exception as error:  # noqa: BLE001  # the next question may well be answered
                    report(error)
        if self._last is not None:
            say_command(notes(), f"To go on: {chat_command(self._thread, self._corpus)}", style="dim")

    def _obey(self, runner: asyncio.Runner, line: str) -> None:
        command, _, rest = line.partition(" ")
        if not line.startswith("/"):
            runner.run(self._ask(line))
        elif command == "/new":
            self._begin(rest.strip() or None)
            say(notes(), f"A new conversation: {self._thread}", style="dim")
        elif command in ("/sources", "/explain"):
            runner.run(self._show(command))
        else:
            if command != "/help":
                say(notes(), f"There is no {command}.")
            for name, what in COMMANDS.items():
                say(notes(), f"{name:10}{what}")

    async def _ask(self, question: str) -> None:
        # With its prompts, which `/explain` may be asked for afterwards.
        request = Request(question, self._filters, explain=True, thread=self._thread, corpus=self._corpus, in_chat=True)
        turn = await turn_of(request, self._context)
        self._last = (turn, request)
        if turn.waiting:
            show_waiting(turn.waiting[0], request)
        else:
            print_answer(results(), turn.state, sources=False)
        results().print()

    async def _show(self, command: str) -> None:
        if self._last is None:
            say(notes(), "There is no answer yet.")
        elif command == "/explain":
            await show_work(*self._last, self._context)
        elif print_sources(results(), self._last[0].state.get("citations") or []):
            results().print()
        else:
            say(notes(), "The last answer cites nothing.")


async def _usable(context: Context) -> None:
    await load_corpus(context)
    await load_model(context)


def typed_lines() -> Iterator[str]:
    """Yield the lines that somebody types or a program sends, without those that are empty."""
    if sys.stdin.isatty():
        with suppress(ImportError):  # where it is there, `input` edits lines and remembers them
            import readline  # noqa: F401
        source = _from_terminal()
    else:
        source = _from_program()
    yield from filter(None, map(str.strip, source))


def _from_terminal() -> Iterator[str]:
    while True:
        try:
            # Not into a file: there it would stand among the answers.
            yield input(PROMPT if sys.stdout.isatty() else "")
        except KeyboardInterrupt:  # what was typed is dropped, as a shell does
            say(notes(), "")
        except EOFError:
            say(notes(), "")
            return


def _from_program() -> Iterator[str]:
    for line in sys.stdin:
        # The answers alone would not say what they answer.
        say(results(), f"{PROMPT}{line.strip()}")
        yield line
