"""What a turn may still spend: its limits, less what the trace says was spent."""

from __future__ import annotations

import math
from collections.abc import Sequence

from anabranch.agent.nodes.finish import usage_of
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.support.state_records import Left, Step
from anabranch.agent.nodes.support.tracing import TIMED_OUT
from anabranch.errors import OperationError
from anabranch.models.usage import allow_repeats, note_failure
from anabranch.synthesis.budget import Prices, RouteName, Spending

UNASKED = "the model was not asked: this step and the answer would take {}"


def left_of(context: Context, trace: Sequence[Step]) -> Spending:
    """Return the calls and tokens that are left of the limits; a call that ran out of time leaves none."""
    used = usage_of(list(trace))
    # A longer call to the same server would take as long again, and end as this one did.
    too_slow = any(step["counts"].get(TIMED_OUT) for step in trace)
    most = Spending(context.max_model_calls, context.max_tokens or math.inf, too_slow)
    return most.less(Spending(used["calls"], used["prompt_tokens"] + used["output_tokens"]))


def affords_more(context: Context, trace: Sequence[Step], *, calls: int = 1) -> bool:
    """Tell whether calls, one after the other, can be had once there is an answer; each may read a full window."""
    # A call's own length is not known yet; a full window is the most that it may read.
    tokens = context.window_tokens + context.answer_tokens
    return not left_of(context, trace).lacks(Spending(calls, calls * tokens))


def granted(context: Context, trace: Sequence[Step], calls: int) -> int:
    """Return how many of some calls a step can have once there is an answer; what is left bounds those made again."""
    left, tokens = left_of(context, trace), context.window_tokens + context.answer_tokens
    most = next((n for n in range(calls, 0, -1) if not left.lacks(Spending(n, n * tokens))), 0)
    repeat_within(as_left(left.less(Spending(most, most * tokens))))
    return most


def as_left(spending: Spending) -> Left:
    """Return a budget as it is sent to a branch."""

    def bound(most: float) -> int | None:
        return None if math.isinf(most) else int(most)

    return Left(calls=bound(spending.calls), tokens=bound(spending.tokens), too_slow=spending.too_slow)


def as_spending(left: Left | None) -> Spending:
    """Return what a branch was sent as a budget; none where it was sent nothing."""
    if left is None:
        return Spending()
    calls, tokens = (math.inf if most is None else most for most in (left["calls"], left["tokens"]))
    return Spending(calls, tokens, left.get("too_slow", False))


def spares(context: Context, trace: Sequence[Step], *, calls: int = 1, tokens: int = 0) -> bool:
    """Tell whether a step before the answer can have calls, all at the same time, and leave one for the answer.

    That one may read a full window. Where it cannot, the step counts as degraded.
    """
    left, wanted = left_of(context, trace), _and_answer(context, calls, tokens)
    lacking = left.lacks(wanted)
    if lacking:
        note_failure(UNASKED.format(lacking))
    repeat_within(as_left(left.less(wanted)))
    return not lacking


def spent_on(context: Context, left: Spending, *, calls: int, tokens: int) -> Spending:
    """Return what is left after calls at the same time before the answer.

    Raises:
        OperationError: Nothing would be left for the answer.
    """
    wanted = _and_answer(context, calls, tokens)
    repeat_within(as_left(left.less(wanted)))
    if lacking := left.lacks(wanted):
        raise OperationError(f"{UNASKED.format(lacking)}.", hint="Raise the limits, or leave this retriever out.")
    return left.less(Spending(calls, tokens))


def beside(context: Context, trace: Sequence[Step], route: RouteName, windows: int, *, branches: int = 1) -> Left:
    """Return what each of some branches may put into calls that are made once more."""
    # A window is taken as full, which makes up for the instructions around it.
    prices = Prices([context.window_tokens] * windows, frame=0, reply=context.answer_tokens, fan_in=context.fan_in)
    rest = left_of(context, trace).less(prices.of(route, windows))
    return as_left(Spending(rest.calls / branches, rest.tokens / branches))


def repeat_within(left: Left | None) -> None:
    """Hold calls that this step makes once more to a budget."""
    rest = as_spending(left)
    allow_repeats(rest.calls, rest.tokens)


def _and_answer(context: Context, calls: int, tokens: int) -> Spending:
    return Spending(calls + 1, tokens + context.window_tokens + context.answer_tokens)
