"""The systems that are measured, each behind the same few methods; a peer imports nothing of Anabranch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

from benchmarks.answering.material import Asked
from benchmarks.answering.rows import NAMES, Row


@dataclass(frozen=True, slots=True)
class Answer:
    """What one question brought.

    Attributes:
        text: The answer.
        first: When its first piece came, by the machine's clock; None where it came in one piece.
        steps: Steps of the graph, 0 for a system without one.
        astray: Why the turn was not what its row says, empty if it was.
    """

    text: str
    first: float | None = None
    steps: int = 0
    astray: str = ""


Ask = Callable[[str], Awaitable[Answer]]
"""Answers a question as a row says."""


class System(Protocol):
    """A system on the material, with the model server at an address."""

    savers: tuple[str, ...]
    """Where threads are kept, for a system that keeps some."""

    async def build(self) -> None:
        """Take in all passages."""
        ...

    async def ready(self, row: Row, saver: str) -> Ask:
        """Make what answers the questions of a row."""
        ...

    async def know(self, questions: Sequence[str]) -> None:
        """Let the queries of questions have their vectors, where they do not lie in memory already."""
        ...

    async def idle(self, saver: str, steps: int) -> float | None:
        """Return the seconds of as many steps that do nothing; None for a system without steps."""
        ...


class Plain:
    """What a system does that has its vectors in memory, and no steps."""

    savers: tuple[str, ...] = ("",)

    async def know(self, questions: Sequence[str]) -> None:
        """Do nothing."""

    async def idle(self, saver: str, steps: int) -> float | None:  # noqa: ARG002  # the protocol has it
        """Return nothing to compare with."""
        return None


def system_of(name: str, asked: Asked, folder: Path, base_url: str) -> System:
    """Import a system; `folder` is where it may keep something."""
    if name not in NAMES:
        raise ValueError(f"unknown system {name!r}; known are {', '.join(NAMES)}")
    made: System = import_module(f"{__name__}.{name}").System(asked, folder, base_url)
    return made
