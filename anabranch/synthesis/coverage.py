"""Counts what was read of whole documents, and says it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from anabranch.safety.link_removal import make_plain
from anabranch.types import NO_COVERAGE, Coverage, Excerpt, Passage

if TYPE_CHECKING:
    from anabranch.synthesis.budget import BudgetLimits, Prices, Spending
    from anabranch.types import RouteName

MOST_LEAVES = 10_000
"""Most passages that one question reads: as many as a checkpoint has room for."""

MOST_DOCUMENTS = 10_000

BEYOND = f"one question reads {MOST_LEAVES:,} passages at most"
GONE = "removed or changed since the question began"
REVIEWED = "left out by a person"
FAILED = "no usable reply of the model"
CUT = "more rows than a reply has room for: raise answer_tokens"

MOST_SOURCE = 160


def make_coverage(coverage: Coverage | None, setting: str, synthesis: str) -> Coverage:
    """Return how much is to be read, by the settings and then by the plan of the model.

    Args:
        coverage: What the plan says; None in a thread of an earlier version.
        setting: The setting `coverage`.
        synthesis: The setting `synthesis`.
    """
    planned = coverage or NO_COVERAGE
    reach = planned["reach"] or "passages" if setting == "auto" else setting
    rows = synthesis == "rows" or (planned["rows"] and reach != "passages")
    return {**planned, "reach": reach, "rows": rows}  # type: ignore[typeddict-item]  # the settings check the words


def wants_whole(coverage: Coverage) -> bool:
    """Tell whether whole documents are to be read."""
    return coverage["reach"] in ("document", "corpus")


def is_whole(coverage: Coverage | None) -> bool:
    """Tell whether the passages are those of whole documents: the survey has put them there, or said why not."""
    return coverage is not None and wants_whole(coverage) and bool(coverage["leaves"] or coverage["stopped"])


def count_read(
    coverage: Coverage,
    passages: Sequence[Passage],
    windows: Sequence[Sequence[Excerpt]],
    *,
    failed: Collection[int] = (),
    unusable: Collection[str] = (),
    removed: Collection[str] = (),
    cut: Collection[str] = (),
) -> Coverage:
    """Return the coverage with the passages that were read; one of which any part was not read does not count.

    A coverage that was counted before stays as it is: a draft may be cited twice, or made where no window was read.

    Args:
        coverage: What was to be read.
        passages: The passages that stand for the leaves.
        windows: The pieces of the passages, window by window.
        failed: Indices of windows that were not read.
        unusable: Ids of passages about which the model gave no usable reply, in other windows.
        removed: Ids of passages that were removed meanwhile.
        cut: Ids of passages whose rows had no room in a reply.
    """
    if coverage["read"] + sum(coverage["unread"].values()) >= coverage["leaves"]:
        return coverage
    in_failed = {excerpt["id"] for index in failed for excerpt in windows[index]}
    packed = {excerpt["id"] for window in windows for excerpt in window}
    unread = Counter(coverage["unread"])
    read = 0
    for passage in passages:
        leaves, key = len(passage["leaves"]), passage["id"]
        if key in removed or key not in packed:
            unread[GONE] += leaves
        elif key in in_failed or key in unusable:
            unread[FAILED] += leaves
        elif key in cut:
            unread[CUT] += leaves
        else:
            read += leaves
    # The survey has listed all leaves, so a review has taken the others away.
    missing = coverage["leaves"] - read - unread.total()
    if missing > 0:
        unread[REVIEWED] += missing
    return {**coverage, "read": read, "unread": {reason: number for reason, number in unread.items() if number}}


def describe_coverage(coverage: Coverage, phrases: Mapping[str, str]) -> str:
    """Return the line that ends an answer: how much was read, and what was not."""
    counts = {"read": f"{coverage['read']:,}", "leaves": f"{coverage['leaves']:,}"}
    if coverage["source"]:
        name = make_plain(coverage["source"], MOST_SOURCE)
        line = phrases["read_document"].format(**counts, source=name)
    else:
        line = phrases["read_corpus"].format(**counts, documents=f"{coverage['documents']:,}")
    if coverage["unread"]:
        reasons = "; ".join(f"{number:,} ({reason})" for reason, number in coverage["unread"].items())
        line = f"{line} {phrases['unread']}: {reasons}."
    return line


def describe_excess(coverage: Coverage, prices: Prices, left: Spending, route: RouteName, limits: BudgetLimits) -> str:
    """Return why whole documents are not read: what it would take, what would fit, and what to change."""
    windows = len(prices.windows)
    low, high = 0, windows
    # The price grows with the windows.
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (low, middle - 1) if left.lacks(prices.cost(route, middle)) else (middle, high)
    cost = prices.cost(route, windows)
    return (
        f"reading all {coverage['leaves']:,} passages takes up to {cost.calls:,.0f} model calls and "
        f"{cost.tokens:,.0f} tokens, and {_describe_limit(cost, left, limits)}. {low:,} of {windows:,} windows would "
        "fit. Or narrow the documents with filters, or set coverage=passages"
    )


def _describe_limit(cost: Spending, left: Spending, limits: BudgetLimits) -> str:
    """Return which limit is in the way, and what it has to be."""
    if left.too_slow:
        return f"it needs {left.lacks(cost)}"
    if cost.calls > left.calls:
        needed = limits.max_model_calls - left.calls + cost.calls
        return f"max_model_calls leaves {left.calls:,.0f}: set it to {needed:.0f} or more"
    if cost.tokens > left.tokens and limits.max_tokens is not None:
        needed = limits.max_tokens - left.tokens + cost.tokens
        return f"max_tokens leaves {left.tokens:,.0f}: set it to {needed:.0f} or more"
    return left.lacks(cost)
