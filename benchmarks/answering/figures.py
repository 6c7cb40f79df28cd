"""What the sessions told, beside what the model server saw, as figures of each row."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.answering.calls import Call, Counts, counts
from benchmarks.answering.rows import Row

Told = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """One question, or many at once; seconds.

    Attributes:
        number: Turns of the same number are those in which all systems were asked the same.
        counts: Its model calls.
        asked: How many questions.
        answered: How many were answered as the row says.
        wall: From the question to the whole answer, of many at once to the last.
        first: To the first piece of the answer; None where it came in one piece.
        cpu: Of its process, for each answer.
        steps: Of a graph.
    """

    number: int
    counts: Counts
    asked: int
    answered: int
    wall: float
    first: float | None
    cpu: float
    steps: int

    @property
    def rest(self) -> float:
        """The time in which no model call was running."""
        return self.wall - self.counts.busy


@dataclass(frozen=True, slots=True)
class Stalls:
    """The longest of some turns, in seconds.

    Attributes:
        turns: How many turns.
        stall: That the event loop stood still.
        garbage: That collecting garbage took.
    """

    turns: int
    stall: float
    garbage: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One row, or the reason why there is none; `stalls` and `crowded` are of turns of their own."""

    row: Row
    saver: str
    turns: tuple[Turn, ...] = ()
    together: tuple[Turn, ...] = ()
    stalls: Stalls | None = None
    crowded: Stalls | None = None
    idle: float | None = None
    astray: int = 0
    failed: str = ""

    @property
    def turn(self) -> Turn:
        """The turn with the median wall time, whose calls are shown."""
        return sorted(self.turns, key=lambda turn: turn.wall)[len(self.turns) // 2]

    @property
    def first(self) -> float | None:
        """The median time to the first piece of the answer."""
        found = [turn.first for turn in self.turns if turn.first is not None]
        return statistics.median(found) if found else None


def median(turns: Sequence[Turn], of: Callable[[Turn], float]) -> float:
    """Return the median over turns."""
    return statistics.median(map(of, turns))


@dataclass(frozen=True, slots=True)
class Ratio:
    """How much one system takes beside another: the median of the ratios of turns of the same number.

    Attributes:
        median: The median.
        low: Lower end of its confidence interval.
        high: Upper end.
        pairs: How many turns.
    """

    median: float
    low: float
    high: float
    pairs: int


def ratio(ours: Sequence[Turn], theirs: Sequence[Turn], of: Callable[[Turn], float]) -> Ratio | None:
    """Return the ratio over the turns that both have taken; None where there is none.

    The interval is that of the sign test, between two of the ratios in order (Conover, "Practical Nonparametric
    Statistics", 3.2): it holds the median with at least 95 % from six turns on, and of fewer it is their range.
    """
    others: Mapping[int, Turn] = {turn.number: turn for turn in theirs}
    found = sorted(of(turn) / of(others[turn.number]) for turn in ours if turn.number in others)
    if not found:
        return None
    pairs, rank = len(found), 0
    # One in forty on each side.
    while sum(math.comb(pairs, below) for below in range(rank + 1)) * 40 <= 2**pairs:
        rank += 1
    place = max(rank - 1, 0)
    return Ratio(statistics.median(found), found[place], found[pairs - 1 - place], pairs)


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

        def kind(name: str) -> list[Told]:
            return [line for line in lines if line.get("kind") == name]

        found = Measured(
            row, saver,
            turns=tuple(map(self._turn, kind("turn"))),
            together=tuple(map(self._turn, kind("together"))),
            stalls=_stalls(kind("stall")),
            crowded=_stalls(kind("stall together")),
            idle=statistics.median(idle) if idle else None,
            astray=sum("kind" not in line and "astray" in line for line in lines),
            failed=next((line["failed"] for line in lines if "failed" in line), ""),
        )  # fmt: skip
        if found.turns or found.failed:
            return found
        # The session ended before its row came; or no turn went as it should.
        ended = next((line["failed"] for line in self._told if "failed" in line and "row" not in line), "")
        went = next((line["astray"] for line in lines if line.get("astray")), "its session told nothing")
        return Measured(row, saver, failed=ended or f"no question went as it should: {went}")

    def _turn(self, line: Told) -> Turn:
        watch, first = line["watch"], line["first"]
        calls = [call for call in self._calls if watch["began"] <= call.began <= watch["ended"]]
        answered = line["asked"] - line["astray"]
        return Turn(
            line["number"],
            counts(calls),
            line["asked"],
            answered,
            watch["ended"] - watch["began"],
            None if first is None else first - watch["began"],
            watch["cpu"] / max(answered, 1),
            line["steps"],
        )


def _stalls(lines: Sequence[Told]) -> Stalls | None:
    watches = [line["watch"] for line in lines]
    if not watches:
        return None
    return Stalls(len(watches), *(max(watch[name] for watch in watches) for name in ("stall", "garbage")))
