"""What the model server saw between two moments, counted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Call:
    """One call: monotonic seconds of the machine's clock, which its processes share, and tokens."""

    began: float
    ended: float
    prompt: int
    output: int


@dataclass(frozen=True, slots=True)
class Counts:
    """What calls add up to.

    Attributes:
        calls: How many.
        rounds: The longest chain of calls of which each began after the one before had ended.
        at_once: The most that ran at the same time.
        prompt: Tokens.
        output: Tokens.
        busy: Seconds in which at least one call ran.
    """

    calls: int
    rounds: int
    at_once: int
    prompt: int
    output: int
    busy: float


def read_calls(log: Path) -> list[Call]:
    """Read what the server has written so far."""
    return [Call(**json.loads(line)) for line in log.read_text("utf-8").splitlines()]


def counts(calls: Sequence[Call]) -> Counts:
    """Add up calls."""
    return Counts(
        calls=len(calls),
        rounds=_rounds(calls),
        at_once=_at_once(calls),
        prompt=sum(call.prompt for call in calls),
        output=sum(call.output for call in calls),
        busy=_busy(calls),
    )


def _rounds(calls: Sequence[Call]) -> int:
    """Take the call that ends first, then the first to end of those that begin after it, and so on."""
    rounds, ended = 0, float("-inf")
    for call in sorted(calls, key=lambda call: call.ended):
        if call.began >= ended:
            rounds, ended = rounds + 1, call.ended
    return rounds


def _at_once(calls: Sequence[Call]) -> int:
    # At the same instant, an end comes before a beginning.
    changes = sorted([(call.began, 1) for call in calls] + [(call.ended, -1) for call in calls])
    running = most = 0
    for _, change in changes:
        running += change
        most = max(most, running)
    return most


def _busy(calls: Sequence[Call]) -> float:
    busy, until = 0.0, float("-inf")
    for call in sorted(calls, key=lambda call: call.began):
        busy += max(0.0, call.ended - max(call.began, until))
        until = max(until, call.ended)
    return busy
