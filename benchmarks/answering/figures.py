"""What a system's session told, beside what the model server saw, as figures of each row."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.answering.calls import Call, Counts, counts
from benchmarks.answering.rows import Row

Told = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """One question; seconds.

    Attributes:
        counts: Its model calls.
        wall: From the question to the whole answer.
        first: To the first piece of the answer; None where it came in one piece.
        cpu: Of its process.
        stall: The longest that the event loop stood still.
        garbage: The longest that collecting garbage took.
        steps: Of a graph.
    """

    counts: Counts
    wall: float
    first: float | None
    cpu: float
    stall: float
    garbage: float
    steps: int

    @property
    def rest(self) -> float:
        """The time in which no model call was running."""
        return self.wall - self.counts.busy


@dataclass(frozen=True, slots=True)
class Together:
    """Many questions at once."""

    counts: Counts
    asked: int
    answered: int
    wall: float
    cpu: float
    stall: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One row, or the reason why there is none."""

    row: Row
    saver: str
    turns: tuple[Turn, ...] = ()
    together: tuple[Together, ...] = ()
    idle: float | None = None
    failed: str = ""

    @property
    def turn(self) -> Turn:
        """The turn with the median wall time."""
        return sorted(self.turns, key=lambda turn: turn.wall)[len(self.turns) // 2]

    @property
    def rest(self) -> float:
        """The median time without a model call."""
        return statistics.median(turn.rest for turn in self.turns)

    @property
    def cpu(self) -> float:
        """The median CPU time."""
        return statistics.median(turn.cpu for turn in self.turns)

    @property
    def stall(self) -> float:
        """The longest stall of all turns."""
        return max(turn.stall for turn in self.turns)

    @property
    def garbage(self) -> float:
        """The longest collection of garbage of all turns."""
        return max(turn.garbage for turn in self.turns)

    @property
    def many(self) -> Together:
        """The median of the times that many questions were asked at once, the faster one of two."""
        return sorted(self.together, key=lambda each: each.wall)[(len(self.together) - 1) // 2]


class Figures:
    """The figures of one system."""

    def __init__(self, system: str, told: Sequence[Told], calls: Sequence[Call]) -> None:
        """Take what its session told, and all calls that the model server saw."""
        self.system, self._told, self._calls = system, told, calls

    @property
    def versions(self) -> dict[str, str]:
        """The versions of its packages."""
        return next((line["versions"] for line in self._told if "versions" in line), {})

    def of(self, row: Row, saver: str | None = None) -> Measured:
        """Return the figures of a row, with threads kept in memory or nowhere if nobody says more."""
        lines = [line for line in self._told if line.get("row") == row.name]
        saver = next((line["saver"] for line in lines), "") if saver is None else saver
        lines = [line for line in lines if line["saver"] == saver]
        idle = [seconds for line in lines for seconds in line.get("idle", []) if seconds is not None]
        found = Measured(
            row, saver,
            turns=tuple(self._turn(line) for line in lines if "turn" in line),
            together=tuple(self._together(line) for line in lines if "together" in line),
            idle=statistics.median(idle) if idle else None,
            failed=next((line["failed"] for line in lines if "failed" in line), ""),
        )  # fmt: skip
        if found.turns or found.failed:
            return found
        # The session ended before its row came.
        ended = next((line["failed"] for line in self._told if "failed" in line and "row" not in line), "")
        return Measured(row, saver, failed=ended or "its session told nothing")

    def _turn(self, line: Told) -> Turn:
        watch, first = line["turn"], line["first"]
        seen = self._seen(watch)
        first = None if first is None else first - watch["began"]
        wall = watch["ended"] - watch["began"]
        return Turn(seen, wall, first, watch["cpu"], watch["stall"], watch["garbage"], line["steps"])

    def _together(self, line: Told) -> Together:
        watch = line["together"]
        wall = watch["ended"] - watch["began"]
        return Together(self._seen(watch), line["asked"], line["answered"], wall, watch["cpu"], watch["stall"])

    def _seen(self, watch: dict[str, float]) -> Counts:
        return counts([call for call in self._calls if watch["began"] <= call.began <= watch["ended"]])
