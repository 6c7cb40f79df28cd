"""What a question may still cost, and what each way of writing the answer takes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

RouteName = Literal["compose", "create", "refine", "map_reduce", "installed"]


@dataclass(frozen=True, slots=True)
class Spending:
    """Model calls, or what is left of a budget of them; infinite where nothing bounds it.

    Attributes:
        calls: Model calls in all.
        tokens: Of prompts and replies together.
        too_slow: Whether a call ran out of time, so that no other one is made whatever the limits leave.
    """

    calls: float = math.inf
    tokens: float = math.inf
    too_slow: bool = False

    def less(self, spent: Spending) -> Spending:
        """Return what is left after something was spent, at least nothing."""
        calls, tokens = max(self.calls - spent.calls, 0), max(self.tokens - spent.tokens, 0)
        return replace(self, calls=calls, tokens=tokens)

    def lacks(self, wanted: Spending) -> str:
        """Say, for people, what is missing to pay for something; empty where it can be paid."""
        if self.too_slow and wanted.calls:
            return "a faster model (a call for this question ran out of time)"
        if wanted.calls > self.calls:
            return f"{wanted.calls:,.0f} model calls, and max_model_calls leaves {self.calls:,.0f}"
        if wanted.tokens > self.tokens:
            return f"up to {wanted.tokens:,.0f} tokens, and max_tokens leaves {self.tokens:,.0f}"
        return ""


@dataclass(frozen=True, slots=True)
class Prices:
    """What decides the cost of a route.

    Attributes:
        windows: Tokens of each window's passages, in the order in which they are read.
        frame: Tokens of the instructions and the question, which every call repeats.
        reply: Most tokens of a reply.
        fan_in: Partial answers joined by one call.
        thoughts: Most tokens that the model may think in beside each reply.
    """

    windows: Sequence[int]
    frame: int
    reply: int
    fan_in: int
    thoughts: int = 0

    def of(self, route: RouteName, read: int) -> Spending:
        """Return the most that a route takes when it reads the first `read` windows."""
        passages = sum(self.windows[:read])
        if route == "compose":
            return Spending(0, 0)
        each = self.frame + self.reply + self.thoughts
        reading = passages + read * each
        # Beside each further window stands the answer so far, which is as long as a reply may be.
        if route != "map_reduce":
            return Spending(read, reading + (read - 1) * self.reply)
        calls, parts = _tree(read, self.fan_in)
        return Spending(read + calls, reading + parts * self.reply + calls * each)


def _tree(leaves: int, fan_in: int) -> tuple[int, int]:
    """Return the calls and the partial answers read of a reduction; a group of one needs no call."""
    calls, parts = 0, 0
    while leaves > 1:
        # The last group of a level may have one member, which goes up as it is.
        alone = leaves % fan_in == 1
        calls += math.ceil(leaves / fan_in) - alone
        parts += leaves - alone
        leaves = math.ceil(leaves / fan_in)
    return calls, parts


def group(sizes: Sequence[int], *, fan_in: int, room: int) -> list[list[int]]:
    """Put partial answers into groups of neighbours that one call can join, as few as the bounds allow.

    Where every group has one member, there is nothing to join: whoever reduces level by level has to stop there, or
    answers that do not shrink would be sent for ever.

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
