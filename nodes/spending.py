"""What a turn may still spend: its limits, less what the trace says was spent."""

from __future__ import annotations

import math
from collections.abc import Sequence

from anabranch.models.metering import note_failure
from anabranch.spending import Spending
from graph.context import Context
from graph.state import Step
from nodes.finish import usage_of


def left_of(context: Context, trace: Sequence[Step]) -> Spending:
    """Return the calls, calls in a row and tokens that are left of the limits."""
    used = usage_of(list(trace))
    most = Spending(context.max_model_calls, context.max_sequential or math.inf, context.max_tokens or math.inf)
    return most.less(Spending(used["calls"], used["rounds"], used["prompt_tokens"] + used["output_tokens"]))


def spares(context: Context, trace: Sequence[Step], *, calls: int = 1, tokens: int = 0) -> bool:
    """Tell whether a step before the answer can have calls, all at the same time, and leave one for the answer.

    That one may read a full window. Where it cannot, the step counts as degraded.
    """
    left = left_of(context, trace)
    wanted = Spending(calls + 1, 2, tokens + context.window_tokens + context.answer_tokens)
    if lacking := left.lacks(wanted):
        note_failure(f"the model was not asked: this step and the answer would take {lacking}")
    return not lacking
