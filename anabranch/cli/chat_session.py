"""A chat on the command line: each line is a question as `ask --thread` asks it, or a command that begins with `/`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from secrets import token_hex
from typing import Any

from anabranch.agent.graph.dependencies import load_corpus, load_model
from anabranch.agent.nodes.settings import Context
from anabranch.cli.answer_view import print_answer, print_sources
from anabranch.cli.ask_turn import Request, TurnResult, show_waiting, show_work, turn_of
from anabranch.cli.explain import print_prompts
from anabranch.cli.failures import interruptible, report
from anabranch.cli.output import notes, results, say, say_command
from anabranch.cli.review_prompt import chat_command
from anabranch.cli.threads import thread_config

PROMPT = "> "
COMMANDS = {
    "/sources": "show the sources of the last answer",
    "/explain": "show how the last answer was made; /explain prompts shows every prompt whole",
    "/new": "start a new conversation; /new NAME names it",
    "/help": "show this list",
    "/quit": "leave (also Ctrl-D)",
}


class ChatSession:
    """One session; its conversation is stored on disk and can be continued."""

    def __init__(
        self, context: Context, filters: dict[str, Any] | None, *, thread: str | None, corpus: str | None
    ) -> None:
        """Take the settings of every question; `corpus` is None if the command that continues need not name it."""
        self._context = context
        self._filters = filters
        self._corpus = corpus
        self._begin(thread)

    def _begin(self, thread: str | None) -> None:
        # Two may begin in the same second.
        self._thread = thread or f"chat-{datetime.now().astimezone():%Y%m%d-%H%M%S}-{token_hex(2)}"
        thread_config(self._thread)  # refuses an unusable id
        self._last: tuple[TurnResult, Request] | None = None

    def run(self) -> None:
        """Ask and answer until the lines end.

        Raises:
            UserError: The corpus or the model cannot be used. An error in one question does not end the session.
        """
        # One event loop for all questions, because model clients keep connections in it. Input is read outside of it,
        # so that Ctrl-C during an answer cancels only that answer.
        with interruptible(), asyncio.Runner() as runner:
            runner.run(_check_usable(self._context))
            if sys.stdin.isatty():
                model = self._context.model or "No chat model: answers are the passages that match best"
                say(notes(), f"{model}. /help shows the commands.", style="dim")
            for line in read_lines():
                if line in ("/quit", "/exit"):
                    break
                try:
                    self._handle_line(runner, line)
                except KeyboardInterrupt:
                    say(notes(), "Stopped.")
                except Exception as error:  # noqa: BLE001  # the next question may well be answered
                    report(error)
        if self._last is not None:
            say_command(notes(), f"To continue: {chat_command(self._thread, self._corpus)}", style="dim")

    def _handle_line(self, runner: asyncio.Runner, line: str) -> None:
        command, _, rest = line.partition(" ")
        if not line.startswith("/"):
            runner.run(self._ask(line))
        elif command == "/new":
            self._begin(rest.strip() or None)
            say(notes(), f"New conversation: {self._thread}", style="dim")
        elif command in ("/sources", "/explain"):
            runner.run(self._show(line))
        else:
            if command != "/help":
                say(notes(), f"Unknown command: {command}.")
            for name, description in COMMANDS.items():
                say(notes(), f"{name:10}{description}")

    async def _ask(self, question: str) -> None:
        # `explain` records the prompts for a later `/explain`.
        request = Request(question, self._filters, explain=True, thread=self._thread, corpus=self._corpus, in_chat=True)
        turn = await turn_of(request, self._context)
        self._last = (turn, request)
        if turn.waiting:
            show_waiting(turn.waiting[0].value, request)
        else:
            print_answer(results(), turn.state, sources=False)
        results().print()

    async def _show(self, command: str) -> None:
        if self._last is None:
            say(notes(), "There is no answer yet.")
        elif command == "/explain prompts":
            print_prompts(results(), self._last[1].prompts.whole)
        elif command.startswith("/explain"):
            await show_work(*self._last, self._context)
        elif print_sources(results(), self._last[0].state.get("citations") or []):
            results().print()
        else:
            say(notes(), "The last answer has no sources.")


async def _check_usable(context: Context) -> None:
    await load_corpus(context)
    await load_model(context)


def read_lines() -> Iterator[str]:
    """Yield the lines from a person or a program, without empty ones."""
    if sys.stdin.isatty():
        with suppress(ImportError):  # gives `input` line editing and history
            import readline  # noqa: F401
        source = _read_terminal()
    else:
        source = _read_pipe()
    yield from filter(None, map(str.strip, source))


def _read_terminal() -> Iterator[str]:
    while True:
        try:
            # No prompt in a file: it would stand among the answers.
            yield input(PROMPT if sys.stdout.isatty() else "")
        except KeyboardInterrupt:  # drops the line, as a shell does
            say(notes(), "")
        except EOFError:
            say(notes(), "")
            return


def _read_pipe() -> Iterator[str]:
    for line in sys.stdin:
        # Repeat the question, so that the output is readable.
        say(results(), f"{PROMPT}{line.strip()}")
        yield line
