"""Counts model calls and tokens for whoever is running: one meter per step of the graph.

A context variable carries the meter, so that tasks started inside a step count on that step's meter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class Meter:
    """Model calls and their tokens, as reported by the provider or estimated where it reports none.

    Attributes:
        repairs: Pieces of replies that had to be put right or left out.
        failures: What failed without ending the step, for people.
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
    embedded: int = 0
    known: int = 0
    spare_calls: float = math.inf
    spare_tokens: float = math.inf


_meter: ContextVar[Meter | None] = ContextVar("anabranch_meter", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """Count every model call made inside."""
    meter = Meter()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def count_call(prompt_tokens: int = 0, output_tokens: int = 0) -> None:
    """Add one finished or failed call to the meter in force."""
    meter = _meter.get()
    if meter is not None:
        meter.calls += 1
        meter.prompt_tokens += prompt_tokens
        meter.output_tokens += output_tokens


def allow_repeats(calls: float, tokens: float) -> None:
    """Bound what the meter in force lets go into calls that are made once more; without this there is no bound."""
    meter = _meter.get()
    if meter is not None:
        meter.spare_calls, meter.spare_tokens = calls, tokens


def take_repeat(tokens: int) -> bool:
    """Take one more call of so many tokens from what `allow_repeats` left; False where that is too little."""
    meter = _meter.get()
    if meter is None:
        return True
    if meter.spare_calls < 1 or meter.spare_tokens < tokens:
        return False
    meter.spare_calls -= 1
    meter.spare_tokens -= tokens
    return True


def count_repairs(number: int) -> None:
    """Add pieces of a reply that had to be put right or left out."""
    meter = _meter.get()
    if meter is not None:
        meter.repairs += number


def count_vectors(*, embedded: int, known: int) -> None:
    """Add queries that were embedded, and those that had been before."""
    meter = _meter.get()
    if meter is not None:
        meter.embedded += embedded
        meter.known += known


def note_failure(reason: str) -> None:
    """Say what failed without ending the step, so that the answer can say so."""
    meter = _meter.get()
    if meter is not None:
        meter.failures.append(reason)
