"""Which generation of the corpus a turn reads: the one that it began with, in all its steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from anabranch.models.usage import note_failure


class TurnGeneration:
    """The generation that a step reads; a number of 0 is none yet."""

    def __init__(self, number: int) -> None:
        """Take the number that the steps before have read."""
        self.number = number

    def goes_on_with(self, number: int) -> None:
        """Read this one from now on, and say so where the turn has read another."""
        if self.number not in (0, number):
            note_failure(
                f"generation {self.number} of the corpus, which this turn began with, is not open any more: "
                f"it goes on with generation {number}"
            )
        self.number = number


generation_in_force: ContextVar[TurnGeneration] = ContextVar("anabranch_generation")
"""That of the step which is running."""


@contextmanager
def reading_generation(number: int) -> Iterator[TurnGeneration]:
    """Have a step read the generation that its turn has read so far."""
    turn = TurnGeneration(number)
    token = generation_in_force.set(turn)
    try:
        yield turn
    finally:
        generation_in_force.reset(token)
