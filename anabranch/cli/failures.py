"""How a command fails: one readable paragraph on standard error, and an exit code that a script can rely on.

0 is success, also where the reader has gone (`| head`), 2 the user's mistake, 1 anything else, 130 Ctrl-C.
ANABRANCH_DEBUG=1 shows the traceback.
"""

from __future__ import annotations

import select
import sys
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import ParamSpec, TypeVar

import typer

from anabranch.cli.output import notes, say
from anabranch.errors import AnabranchError, UserError

P = ParamSpec("P")
R = TypeVar("R")

INTERRUPTED = 130

_GUARDED = "__anabranch_guarded__"
"""Marks a command that has its guard: a plugin guards its own where it answers others than the operator."""


def guarded(command: Callable[P, R], *, for_others: bool = False) -> Callable[P, R]:
    """Run a command, and turn whatever it raises into a paragraph and an exit code; a guarded one stays as it is.

    Args:
        command: The command.
        for_others: Whether it answers people who have to say who they are; all others are the operator's own.
    """
    if getattr(command, _GUARDED, False):
        return command

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        from anabranch.safety.operator import as_operator

        try:
            with nullcontext() if for_others else as_operator():
                return command(*args, **kwargs)
        except (typer.Exit, typer.Abort):  # Typer ends the process with them
            raise
        except BrokenPipeError as error:
            if not _reader_has_gone():  # a model server or a process of our own broke it
                report(error)
                raise typer.Exit(1) from error
            raise typer.Exit(0) from error
        except KeyboardInterrupt as error:
            say(notes(), "Interrupted.")
            raise typer.Exit(INTERRUPTED) from error
        except Exception as error:  # the one place where every failure is told to a person
            report(error)
            raise typer.Exit(exit_code(error)) from error

    setattr(run, _GUARDED, True)
    return run


def _reader_has_gone() -> bool:
    """Tell whether nobody reads standard output any more."""
    try:
        # What could not be written is mostly still waiting to be; where nothing is held back, the system knows.
        sys.stdout.flush()
        poller = select.poll()
        poller.register(sys.stdout.fileno(), 0)
        return any(state & (select.POLLERR | select.POLLHUP) for _, state in poller.poll(0))
    except BrokenPipeError:
        return True
    except (OSError, ValueError, AttributeError):  # no file of the system; a system without poll
        return False


def report(error: BaseException) -> None:
    """Print the paragraph; the traceback as well when it was asked for."""
    console = notes()
    from anabranch.safety.operator import environment

    if environment().get("debug", "") not in ("", "0"):
        console.print("".join(traceback.format_exception(error)), soft_wrap=True)
    say(console, f"error: {paragraph(error)}", style="red")


def paragraph(error: BaseException) -> str:
    """Say what happened and what to do about it, on one line."""
    cause = innermost(error)
    if isinstance(cause, AnabranchError):
        return " ".join(str(cause).split())
    said = " ".join(str(cause).split()) or "no message"
    # The system says which file, and in the words that people look up.
    if isinstance(cause, OSError):
        return f"{said}."
    if isinstance(cause, ImportError):  # a library that is missing or broken, or another package of one of our names
        return f"{said.rstrip('.')}. Run `anabranch doctor` to see what is missing or shadowed."
    return f"{type(cause).__name__}: {said} This should not happen; ANABRANCH_DEBUG=1 shows where it did."


def exit_code(error: BaseException) -> int:
    """Return 2 for a user's mistake, 1 for the rest."""
    return 2 if isinstance(innermost(error), UserError) else 1


def innermost(error: BaseException) -> BaseException:
    """Return the error that a person should read: one of ours, wherever a library has wrapped it, else the first."""
    # Task groups and libraries wrap what a step raised; their own words say less than its message and hint.
    leaves = list(_leaves(error))
    return next((leaf for leaf in leaves if isinstance(leaf, AnabranchError)), leaves[0])


def _leaves(error: BaseException) -> list[BaseException]:
    """List an error, the members of a group, and what they were raised from, nearest first."""
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
