"""The one place that decides which weights a fusion accepts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from anabranch.errors import SettingsError


def checked_weights(weights: Sequence[float] | None, count: int, *, what: str = "fusion weights") -> list[float]:
    """Return one weight per list; equal weights where none are given.

    Args:
        weights: Weights >= 0, or None for 1.0 each. 0 takes the list out.
        count: How many lists there are.
        what: How an error message calls them.

    Raises:
        SettingsError: A weight is negative or no finite number, or there are more or fewer weights than lists.
    """
    if weights is None:
        return [1.0] * count
    if len(weights) != count:
        message = f"There are {len(weights)} {what} for {count} ranked lists: {list(weights)!r}."
        raise SettingsError(message, hint="Give one weight per list.")
    for weight in weights:
        if not math.isfinite(weight) or weight < 0:
            raise SettingsError(f"{weight!r} is not usable among {what}.", hint="Give finite weights of 0 or more.")
    return [float(weight) for weight in weights]
