"""Processes to be killed: forked from one that has imported everything, so that a try costs milliseconds."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from anabranch.store.index import merge_policy as draft
from tests.fork_server import CONTEXT

PATIENCE = 120.0
SMALL = 8
"""Rows up to which segments are merged at once: few, so that these small corpora have several, with dead rows."""

Say = Callable[[Any], None]


class Child:
    """A process that does some work and says how far it is."""

    def __init__(self, work: Callable[..., None], *given: object) -> None:
        """Start `work(say, *given)`."""
        self._ours, theirs = CONTEXT.Pipe(duplex=False)
        self._process = CONTEXT.Process(target=_run, args=(work, theirs, given))
        self._process.start()
        theirs.close()

    def hear(self) -> Any:
        """Wait for what it says next; EOFError if it has ended."""
        if not self._ours.poll(PATIENCE):
            self.kill()
            raise TimeoutError("the child is silent")
        return self._ours.recv()

    def rest(self) -> Iterator[Any]:
        """Yield what it says from now on, to its end."""
        try:
            while True:
                yield self.hear()
        except (EOFError, OSError):
            self._process.join(PATIENCE)

    def heard(self) -> Iterator[Any]:
        """Yield what it has said by now."""
        while self._ours.poll():
            yield self._ours.recv()

    def kill(self, seconds: float = 0.0) -> None:
        """End it at once, after so many seconds."""
        time.sleep(seconds)
        self._process.kill()

    @property
    def exit_code(self) -> int | None:
        return self._process.exitcode

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    @property
    def pid(self) -> int:
        return int(self._process.pid or 0)


def answer(work: Callable[..., Any], *given: object) -> Any:
    """Return what `work(*given)` returns in a process of its own.

    Raises:
        Died: It raised something, or crashed.
    """
    child = Child(_answered, work, given)
    said = list(child.rest())
    if not said:
        raise Died(f"{work.__name__} died with exit code {child.exit_code}")
    returned, error = said[-1]
    if error:
        raise Died(error)
    return returned


class Died(Exception):
    """A process ended before its work was done."""


def _answered(say: Say, work: Callable[..., Any], given: tuple[Any, ...]) -> None:
    try:
        say((work(*given), ""))
    except Exception:
        say((None, traceback.format_exc()))


def _run(work: Callable[..., None], pipe: Connection, given: tuple[Any, ...]) -> None:
    logging.disable(logging.CRITICAL)
    draft.SMALL = SMALL
    work(pipe.send, *given)
    pipe.close()
