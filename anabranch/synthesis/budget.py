"""The budget of a question, and the cost of each way of writing the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from anabranch.errors import OperationError
from anabranch.models.usage import TIMED_OUT, allow_repeats, note_failure
from anabranch.types import Left, RouteName, Step


@dataclass(frozen=True, slots=True)
class Spending:
    """Spent or remaining model calls and tokens; infinite where unbounded.

    Attributes:
        calls: Model calls in all.
        tokens: Of prompts and replies together.
        too_slow: Whether a call ran out of time, after which no other call is made.
    """

    calls: float = math.inf
    tokens: float = math.inf
    too_slow: bool = False

    def subtract(self, spent: Spending) -> Spending:
        """Return what is left after spending, at least zero."""
        calls, tokens = max(self.calls - spent.calls, 0), max(self.tokens - spent.tokens, 0)
        return replace(self, calls=calls, tokens=tokens)

    def lacks(self, wanted: Spending) -> str:
        """Return what is missing to pay for something, for people; empty if nothing is."""
        if self.too_slow and wanted.calls:
            return "a faster model (a call for this question ran out of time)"
        if wanted.calls > self.calls:
            return f"{wanted.calls:,.0f} model calls, and max_model_calls leaves {self.calls:,.0f}"
        if wanted.tokens > self.tokens:
            return f"up to {wanted.tokens:,.0f} tokens, and max_tokens leaves {self.tokens:,.0f}"
        return ""

    def to_record(self) -> Left:
        """Return the record that a branch receives."""
        calls, tokens = (None if math.isinf(most) else int(most) for most in (self.calls, self.tokens))
        return Left(calls=calls, tokens=tokens, too_slow=self.too_slow)

    @classmethod
    def from_record(cls, left: Left | None) -> Spending:
        """Read the record of a branch; unbounded without one."""
        if left is None:
            return cls()
        calls, tokens = (math.inf if most is None else most for most in (left["calls"], left["tokens"]))
        return cls(calls, tokens, left.get("too_slow", False))


@dataclass(frozen=True, slots=True)
class Prices:
    """The sizes that decide the cost of a route.

    Attributes:
        windows: Tokens of each window's passages, in the order in which they are read.
        frame: Tokens of the instructions and the question, which every call repeats.
        reply: Most tokens of a reply.
        fan_in: Partial answers joined by one call.
        thoughts: Most reasoning tokens beside each reply.
    """

    windows: Sequence[int]
    frame: int
    reply: int
    fan_in: int
    thoughts: int = 0

    def cost(self, route: RouteName, read: int) -> Spending:
        """Return the highest cost of a route that reads the first `read` windows."""
        passages = sum(self.windows[:read])
        if route == "compose":
            return Spending(0, 0)
        each = self.frame + self.reply + self.thoughts
        reading = passages + read * each
        # Each window is read by itself, and the program joins the rows.
        if route == "rows":
            return Spending(read, reading)
        # Each further window comes with the answer so far, which may have the length of a reply.
        if route != "map_reduce":
            return Spending(read, reading + (read - 1) * self.reply)
        calls, parts = _tree(read, self.fan_in)
        return Spending(read + calls, reading + parts * self.reply + calls * each)


class BudgetLimits(Protocol):
    """The settings that bound a question: `Context` has them."""

    @property
    def max_model_calls(self) -> int: ...  # noqa: D102
    @property
    def max_tokens(self) -> int | None: ...  # noqa: D102
    @property
    def window_tokens(self) -> int: ...  # noqa: D102
    @property
    def answer_tokens(self) -> int: ...  # noqa: D102
    @property
    def fan_in(self) -> int: ...  # noqa: D102


class Budget:
    """The remaining model calls and tokens of a turn; a step checks them before it calls a model.

    Attributes:
        left: Remaining calls and tokens; none after a call that ran out of time, for the next would, too.
    """

    def __init__(self, limits: BudgetLimits, left: Spending) -> None:
        """Take the limits of a question, and what is left."""
        self.left = left
        self._limits = limits
        # The length of a call is not known in advance, so assume a full window.
        self._answer = limits.window_tokens + limits.answer_tokens

    @classmethod
    def from_trace(cls, trace: Sequence[Step], limits: BudgetLimits) -> Budget:
        """Return the budget that is left after the steps of a trace."""
        used = usage_of(trace)
        is_too_slow = any(step["counts"].get(TIMED_OUT) for step in trace)
        most = Spending(limits.max_model_calls, limits.max_tokens or math.inf, is_too_slow)
        return cls(limits, most.subtract(Spending(used["calls"], used["prompt_tokens"] + used["output_tokens"])))

    def lacks(self, calls: int) -> str:
        """Return what is missing for some calls of any length, for people; empty if nothing is."""
        return self.left.lacks(Spending(calls, 0))

    def allows(self, *, calls: int = 1, tokens: int = 0) -> bool:
        """Tell whether parallel calls before the answer leave one for the answer.

        If not, the step counts as degraded. Repeated calls are limited to the rest.
        """
        wanted = Spending(calls + 1, tokens + self._answer)
        lacking = self.left.lacks(wanted)
        if lacking:
            note_failure(UNASKED.format(lacking))
        hold_repeats(self.left.subtract(wanted))
        return not lacking

    def take(self, *, calls: int, tokens: int) -> None:
        """Subtract calls before the answer from the budget.

        Raises:
            OperationError: Nothing would be left for the answer.
        """
        wanted = Spending(calls + 1, tokens + self._answer)
        hold_repeats(self.left.subtract(wanted))
        if lacking := self.left.lacks(wanted):
            raise OperationError(f"{UNASKED.format(lacking)}.", hint="Raise the limits, or leave this retriever out.")
        self.left = self.left.subtract(Spending(calls, tokens))

    def affords(self, calls: int = 1) -> bool:
        """Tell whether the budget affords calls after the answer; each may read a full window."""
        return not self.left.lacks(Spending(calls, calls * self._answer))

    def grant(self, calls: int) -> int:
        """Return how many of some calls the budget affords after the answer; repeated ones are limited to the rest."""
        most = next((number for number in range(calls, 0, -1) if self.affords(number)), 0)
        hold_repeats(self.left.subtract(Spending(most, most * self._answer)))
        return most

    def rest_of(self, route: RouteName, windows: int, *, branches: int = 1) -> Spending:
        """Return what each branch may spend on repeated calls, beside those of the route itself."""
        # Windows count as full, which makes up for the instructions around them.
        sizes = [self._limits.window_tokens] * windows
        prices = Prices(sizes, frame=0, reply=self._limits.answer_tokens, fan_in=self._limits.fan_in)
        rest = self.left.subtract(prices.cost(route, windows))
        return Spending(rest.calls / branches, rest.tokens / branches)


UNASKED = "the model was not asked: this step and the answer would take {}"


def hold_repeats(rest: Spending) -> None:
    """Limit repeated calls of the running step to a budget."""
    allow_repeats(rest.calls, rest.tokens)


def usage_of(trace: Sequence[Step]) -> dict[str, Any]:
    """Add up a trace.

    Returns:
        `calls`, `rounds` (sequential round trips: steps that called a model), `prompt_tokens`, `output_tokens`, and
        `ms` per node, repeated nodes added up.
    """
    ms: dict[str, float] = {}
    for step in trace:
        ms[step["node"]] = round(ms.get(step["node"], 0.0) + step["ms"], 1)
    return {
        "calls": sum(step["calls"] for step in trace),
        "rounds": len({step["round"] for step in trace if step["calls"]}),
        "prompt_tokens": sum(step["prompt_tokens"] for step in trace),
        "output_tokens": sum(step["output_tokens"] for step in trace),
        "ms": ms,
    }


def _tree(leaves: int, fan_in: int) -> tuple[int, int]:
    """Return the number of calls of a reduction and of partial answers that they read; a group of one needs no call."""
    calls, parts = 0, 0
    while leaves > 1:
        # The last group of a level may have one member, which moves up unchanged.
        alone = leaves % fan_in == 1
        calls += math.ceil(leaves / fan_in) - alone
        parts += leaves - alone
        leaves = math.ceil(leaves / fan_in)
    return calls, parts


def group(sizes: Sequence[int], *, fan_in: int, room: int) -> list[list[int]]:
    """Put partial answers into groups of neighbours that one call can join, as few as the bounds allow.

    If every group has one member, nothing can be joined, and the caller must stop: otherwise answers that do not shrink
    would be sent for ever.

    Args:
        sizes: Tokens of each partial answer.
        fan_in: Most members of a group, > 1.
        room: Most tokens of a group; a member that is larger stays alone.

    Returns:
        Indices into `sizes`, every one exactly once, in order.
    """
    groups: list[list[int]] = []
    used = 0
    for index, size in enumerate(sizes):
        if not groups or len(groups[-1]) == fan_in or used + size > room:
            groups.append([])
            used = 0
        groups[-1].append(index)
        used += size
    return groups
