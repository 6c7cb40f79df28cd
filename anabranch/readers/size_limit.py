"""How large a file may be for its reader: written on the reader, so that it goes wherever that is registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

R = TypeVar("R", bound=Callable[..., Any])

MOST_TEXT_BYTES = 100 << 20
"""A text becomes one document, which is held in memory and handed over whole (`worker_protocol.MOST_BYTES`)."""

MOST_PARSED_BYTES = 1 << 25
"""What is parsed as a whole takes many times its size."""


class SizeLimit(NamedTuple):
    """What a file may have.

    Attributes:
        most_bytes: Its size at most; None where it is streamed.
        hint: What to do with a larger one.
    """

    most_bytes: int | None = 1 << 30
    hint: str = "Split it."


USUAL = SizeLimit()


def limited(most_bytes: int | None, hint: str = USUAL.hint) -> Callable[[R], R]:
    """Give a reader another limit than the usual one, as in `@limited(1 << 25)`."""

    def mark(reader: R) -> R:
        reader.size_limit = SizeLimit(most_bytes, hint)  # type: ignore[attr-defined]
        return reader

    return mark


def limit_of(reader: Callable[..., Any]) -> SizeLimit:
    """Return the limit of a reader, the usual one where it has none of its own."""
    found: SizeLimit = getattr(reader, "size_limit", USUAL)
    return found
