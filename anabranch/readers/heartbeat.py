"""A sign of life from a reader at work on a long file, so that it is not taken for one that hangs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[], None] | None] = ContextVar("listener", default=None)


def beat() -> None:
    """Say that the work goes on; a reader calls it once per page, sheet or the like. Costs next to nothing."""
    listener = _listener.get()
    if listener is not None:
        listener()


@contextmanager
def heard_by(listener: Callable[[], None]) -> Iterator[None]:
    """Have each `beat` inside the block call `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
