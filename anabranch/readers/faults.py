"""Turns what nobody expected, an error in a library or in our own code, into the refusal of one file."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from anabranch.errors import AnabranchError, ReadingError
from anabranch.readers.document import Failure

_HINT = "If the file opens elsewhere, this is a fault of Anabranch or of a plugin: report it, and leave the file out."

log = logging.getLogger(__name__)
"""Has the traces, as `info`; reports have none."""


def describe_fault(error: BaseException) -> str:
    """Return the type and the message of an error, on one line."""
    said = " ".join(str(error).split())[:200].rstrip(".")
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def refuse(source: str, deed: str, error: Exception) -> ReadingError:
    """Return the error for a file with which one thing, such as 'read', cannot be done; its cause is logged."""
    log.info("%r cannot be %s", source, deed, exc_info=error)
    reason = "memory" if isinstance(error, MemoryError) else "broken"
    return ReadingError(f"{source!r} cannot be {deed}: {describe_fault(error)}.", reason=reason, hint=_HINT)


@contextmanager
def refuse_faults(source: str, deed: str) -> Iterator[None]:
    """Turn any exception in the block that is not one of our errors into a `ReadingError`; see `refuse`."""
    try:
        yield
    except AnabranchError:
        raise
    except Exception as error:
        raise refuse(source, deed, error) from error


def end_with_fault(source: str, items: Iterable[Any]) -> Iterator[Any]:
    """Yield the items; where they cannot be listed any further, a `Failure` of that source is the last one."""
    try:
        with refuse_faults(source, "listed"):
            yield from items
    except ReadingError as error:
        yield Failure(source, error.reason, str(error))
