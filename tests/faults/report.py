"""Counts what was tried and what was lost."""

from __future__ import annotations

import random
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

HEADER = """# Faults

Each row is a fault that the corpus, or the server, has to survive, tried so many times; a loss is a try after which
anything of the last column was not so. Made by `make faults`.

| fault | tries | losses | what was looked at after each |
|---|--:|--:|---|
"""


@dataclass(slots=True)
class Fault:
    """One fault.

    Attributes:
        name: What happens.
        looked_at: What must hold afterwards.
        tries: How often it was tried.
        losses: What went wrong, each with what it takes to try that again.
        remark: What else was seen, in figures.
    """

    name: str
    looked_at: str
    tries: int = 0
    losses: list[str] = field(default_factory=list)
    remark: str = ""

    def dice(self, times: int) -> Iterator[random.Random]:
        """Yield a generator of random numbers for each try."""
        for number in range(times):
            yield random.Random(f"{self.name}/{number}")

    @contextmanager
    def attempt(self, what: object = "") -> Iterator[None]:
        """Count a try; what goes wrong in it is a loss, and the next one follows."""
        self.tries += 1
        try:
            yield
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            where = " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
            self.losses.append(f"try {self.tries} ({what}): {type(error).__name__}: {error}\n  at {where}")

    def settle(self) -> None:
        assert not self.losses, f"{len(self.losses)} of {self.tries} lost:\n" + "\n".join(self.losses)

    def row(self) -> str:
        seen = f" ({self.remark})" if self.remark else ""
        return f"| {self.name} | {self.tries:,} | {len(self.losses):,} | {self.looked_at}{seen} |\n"


def table(faults: list[Fault]) -> str:
    return HEADER + "".join(fault.row() for fault in faults)
