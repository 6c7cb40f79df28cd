"""How a command fails: one paragraph on standard error, and an exit code for scripts.

0 is success, also if the reader closed the pipe (`| head`), 2 the user's mistake, 1 any other error, 130 Ctrl-C.
ANABRANCH_DEBUG=1 shows the traceback.
"""

from __future__ import annotations

import logging
import select
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import ParamSpec, TypeVar

import typer

from anabranch.cli.output import notes, say
from anabranch.errors import AnabranchError, UserError

P = ParamSpec("P")
R = TypeVar("R")

INTERRUPTED = 130

_GUARDED = "__anabranch_guarded__"
"""Marks a guarded command: a plugin guards its own if it serves people other than the operator."""


def guarded(command: Callable[P, R], *, for_others: bool = False) -> Callable[P, R]:
    """Return the command with its exceptions turned into a paragraph and an exit code; a guarded one is unchanged.

    Args:
        command: The command.
        for_others: Whether it serves people who must authenticate; otherwise only the operator runs it.
    """
    if getattr(command, _GUARDED, False):
        return command

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        from anabranch.safety.operator import as_operator

        if _is_debugging():  # what a run reports and survives, such as a file that brings out a fault
            logging.basicConfig(format="%(message)s")
            logging.getLogger("anabranch").setLevel(logging.INFO)
        try:
            with nullcontext() if for_others else as_operator():
                return command(*args, **kwargs)
        except (typer.Exit, typer.Abort):  # Typer ends the process with them
            raise
        except BrokenPipeError as error:
            if not _is_pipe_closed():  # a model server or a process of our own broke it
                report(error)
                raise typer.Exit(1) from error
            raise typer.Exit(0) from error
        except KeyboardInterrupt as error:
            say(notes(), "Interrupted.")
            raise typer.Exit(INTERRUPTED) from error
        except Exception as error:  # the one place that reports every failure
            report(error)
            raise typer.Exit(exit_code(error)) from error

    setattr(run, _GUARDED, True)
    return run


@contextmanager
def interruptible() -> Iterator[None]:
    """Keep what LangGraph leaves behind when Ctrl-C cancels a run from the person who pressed it."""
    with warnings.catch_warnings():
        # It drops the steps that waited for their turn. Set before the run, because it does so while it is cancelled.
        warnings.filterwarnings("ignore", "coroutine '.+' was never awaited", RuntimeWarning, r"langgraph\.")
        yield


def _is_pipe_closed() -> bool:
    """Tell whether the reader of standard output is gone."""
    try:
        # Usually the unwritten output is still buffered; if the buffer is empty, ask the system.
        sys.stdout.flush()
        poller = select.poll()
        poller.register(sys.stdout.fileno(), 0)
        return any(state & (select.POLLERR | select.POLLHUP) for _, state in poller.poll(0))
    except BrokenPipeError:
        return True
    except (OSError, ValueError, AttributeError):  # not a real file, or a system without poll
        return False


def report(error: BaseException) -> None:
    """Print the paragraph, and with ANABRANCH_DEBUG the traceback."""
    console = notes()
    if _is_debugging():
        console.print("".join(traceback.format_exception(error)), soft_wrap=True)
    say(console, f"error: {paragraph(error)}", style="red")


def _is_debugging() -> bool:
    from anabranch.safety.operator import read_variable

    return read_variable("debug") not in ("", "0")


def paragraph(error: BaseException) -> str:
    """Return what happened and what to do about it, on one line."""
    cause = innermost(error)
    if isinstance(cause, AnabranchError):
        return " ".join(str(cause).split())
    text = " ".join(str(cause).split()) or "no message"
    # The system's own message names the file, and can be looked up.
    if isinstance(cause, OSError):
        return f"{text}."
    if isinstance(cause, ImportError):  # a missing or broken library, or another package with one of our names
        return f"{text.rstrip('.')}. Run `anabranch doctor` to see what is missing or shadowed."
    return f"{type(cause).__name__}: {text} This should not happen; ANABRANCH_DEBUG=1 shows where it did."


def exit_code(error: BaseException) -> int:
    """Return 2 for a user's mistake, 1 for the rest."""
    return 2 if isinstance(innermost(error), UserError) else 1


def innermost(error: BaseException) -> BaseException:
    """Return the error to report: the nearest one of ours, even if a library wrapped it, else the first."""
    # Task groups and libraries wrap what a step raised; its own message and hint say more.
    leaves = list(_leaves(error))
    return next((leaf for leaf in leaves if isinstance(leaf, AnabranchError)), leaves[0])


def _leaves(error: BaseException) -> list[BaseException]:
    """List an error, the members of its group, and their causes, nearest first."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting:
        current = waiting.pop(0)
        if isinstance(current, BaseExceptionGroup):
            waiting[:0] = current.exceptions
            continue
        if current not in found:
            found.append(current)
            if current.__cause__ is not None:
                waiting.append(current.__cause__)
    return found
