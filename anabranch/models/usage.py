"""Counts model calls and tokens for whoever is running: one meter per step of the graph.

A context variable carries the meter, so that tasks started inside a step count on that step's meter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

TIMED_OUT = "timed_out"
"""Under `counts` of a step: how many of its calls to the chat model ran out of time."""


@dataclass(slots=True)
class Meter:
    """Model calls and their tokens, as reported by the provider or estimated where it reports none.

    Attributes:
        repairs: Pieces of replies that had to be put right or left out.
        failures: What failed without ending the step, for people.
        timed_out: Calls to the chat model that ran out of time.
        embedded: Queries that were embedded.
        known: Queries whose vectors were kept from before.
        spare_calls: Calls that the step may make beyond those it was planned with.
        spare_tokens: Tokens of their prompts and replies.
    """

    calls: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    repairs: int = 0
    failures: list[str] = field(default_factory=list)
    timed_out: int = 0
    embedded: int = 0
    known: int = 0
    spare_calls: float = math.inf
    spare_tokens: float = math.inf


_meter: ContextVar[Meter | None] = ContextVar("anabranch_meter", default=None)
_bill: ContextVar[Meter | None] = ContextVar("anabranch_bill", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """Count every model call made inside."""
    measured = Meter()
    token = _meter.set(measured)
    try:
        yield measured
    finally:
        _meter.reset(token)


def meter() -> Meter:
    """Return the meter in force; where nobody measures, one that nobody reads."""
    return _meter.get() or Meter()


@contextmanager
def billed() -> Iterator[Meter]:
    """Count every model call made inside, also where a step has a meter of its own, and does not come to its end."""
    bill = Meter()
    token = _bill.set(bill)
    try:
        yield bill
    finally:
        _bill.reset(token)


def count_call(prompt_tokens: int = 0, output_tokens: int = 0) -> None:
    """Add one finished or failed call to the meter and the bill in force."""
    for counting in (_meter.get(), _bill.get()):
        if counting is not None:
            counting.calls += 1
            counting.prompt_tokens += prompt_tokens
            counting.output_tokens += output_tokens


def allow_repeats(calls: float, tokens: float) -> None:
    """Bound what the meter in force lets go into calls that are made once more; without this there is no bound."""
    now = meter()
    now.spare_calls, now.spare_tokens = calls, tokens


def take_repeat(tokens: int) -> bool:
    """Take one more call of so many tokens from what `allow_repeats` left; False where that is too little."""
    now = meter()
    if now.spare_calls < 1 or now.spare_tokens < tokens:
        return False
    now.spare_calls -= 1
    now.spare_tokens -= tokens
    return True


def count_repairs(number: int) -> None:
    """Add pieces of a reply that had to be put right or left out."""
    meter().repairs += number


def count_vectors(*, embedded: int, known: int) -> None:
    """Add queries that were embedded, and those that had been before."""
    now = meter()
    now.embedded += embedded
    now.known += known


def note_timeout() -> None:
    """Say that a call to the chat model ran out of time, so that nobody waits for a longer one."""
    meter().timed_out += 1


def note_failure(reason: str) -> None:
    """Say what failed without ending the step, so that the answer can say so."""
    meter().failures.append(reason)


def forget_failure() -> None:
    """Take back the last reason, where a caller does something about it."""
    if failures := meter().failures:
        failures.pop()
