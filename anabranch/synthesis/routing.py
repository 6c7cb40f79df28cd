"""Chooses how the answer is written, from the retrieved evidence alone, with reasons.

One window needs one call. Several windows are read one after the other (create and refine) where the evidence is
focused, and side by side (map and reduce) where it is spread over many places: then no single passage decides, and a
chain of rewrites would only be slow (BooookScore, 2310.00785; Self-Route, 2407.16833). The words of the question do not
count, because "list all" and "who" look different in every language.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anabranch.registry import Registry
from anabranch.synthesis.budget import Prices, Spending
from anabranch.types import RouteName

BUILT_IN = ("auto", "stuff", "refine", "map_reduce", "rows")

# Routes that other packages add: steps of the graph, like those in `nodes/`, that write `draft`.
SYNTHESIS_MODES: Registry[Callable[..., Any]] = Registry("synthesis mode", {})
MANY_SOURCES = 4
# Relevance is flat when the median passage has at least this share of the best one's score.
FLAT = 0.8
# Refining ends after this many windows in a row without a new answer.
EARLY_STOP = 2
# A longer chain is not worth its time: each window is a round trip.
LONG_CHAIN = 6


@dataclass(frozen=True, slots=True)
class RouteChoice:
    """The route and its reasons for people.

    Attributes:
        name: The route.
        reasons: Why this route.
        unread: Last windows that the budget does not cover.
        lacking: What the budget lacks, for people; empty if nothing.
    """

    name: RouteName
    reasons: tuple[str, ...]
    unread: int = 0
    lacking: str = ""


def is_flat(scores: Sequence[float]) -> bool:
    """Tell whether relevance is spread evenly instead of concentrated in the first passages."""
    ordered = sorted(scores, reverse=True)
    return len(ordered) > 1 and ordered[0] > 0 and ordered[len(ordered) // 2] >= FLAT * ordered[0]


def choose(
    *,
    windows: int,
    sources: int,
    scores: Sequence[float],
    synthesis: str = "auto",
    has_model: bool = True,
) -> RouteChoice:
    """Choose the route."""
    if synthesis not in BUILT_IN:
        return RouteChoice("installed", (f"synthesis: {synthesis} was asked for",))
    if not has_model:
        return RouteChoice("compose", ("no chat model is configured: the passages that match best are shown",))
    if synthesis in ("stuff", "rows"):
        route: RouteName = "create" if synthesis == "stuff" else "rows"
        said = "stuff was asked for: the best passages in one window" if route == "create" else "rows was asked for"
        return RouteChoice(route, (f"synthesis: {said}",))
    if windows <= 1:
        return RouteChoice("create", ("all passages fit one window",))
    if synthesis in ("refine", "map_reduce"):
        name: RouteName = "refine" if synthesis == "refine" else "map_reduce"
        return RouteChoice(name, (f"{windows} windows", f"synthesis: {synthesis} was asked for"))
    return _choose_by_evidence(windows, sources, scores)


def choose_whole(prices: Prices, left: Spending, *, rows: bool, has_model: bool) -> RouteChoice:
    """Choose the route that reads every window of whole documents; with `lacking`, the budget does not cover it."""
    windows = len(prices.windows)
    if not has_model:
        return RouteChoice("compose", ("no chat model is configured: an outline or a list of documents is shown",))
    name: RouteName = "rows" if rows else "map_reduce" if windows > 1 else "create"
    reason = "every hit is listed" if rows else "whole documents are read"
    return RouteChoice(name, (f"{windows} windows", reason), lacking=left.lacks(prices.cost(name, windows)))


def _choose_by_evidence(windows: int, sources: int, scores: Sequence[float]) -> RouteChoice:
    said = (f"{windows} windows",)
    if sources >= MANY_SOURCES and is_flat(scores):
        return RouteChoice("map_reduce", (*said, f"evidence is spread evenly over {sources} sources"))
    if windows > LONG_CHAIN:
        return RouteChoice("map_reduce", (*said, f"a chain of more than {LONG_CHAIN} calls would be slow"))
    return RouteChoice("refine", (*said, "the evidence is focused"))


def afford(choice: RouteChoice, prices: Prices, left: Spending, *, chain: bool = True) -> RouteChoice:
    """Return the choice, or the nearest one within a budget.

    The other way to read all windows comes first, then fewer windows, then the passages themselves, which cost no call.

    Args:
        choice: The route that suits the evidence.
        prices: The prices of the windows.
        left: The remaining budget.
        chain: Whether the model's context has room for an answer so far beside a window.
    """
    windows = len(prices.windows)
    # The cost of another package's route is unknown here: it must keep to the limits itself.
    if choice.name in ("compose", "installed") or not windows:
        return choice
    if choice.name == "refine" and not chain:
        choice = RouteChoice("map_reduce", (*choice.reasons, "the model's context has no room for an answer so far"))
    lacking = left.lacks(prices.cost(choice.name, windows))
    if not lacking:
        return choice
    why = (*choice.reasons, f"{choice.name} takes {lacking}")
    # Reading all windows by another route loses no evidence, so try that before reading fewer.
    for read in range(windows, 0, -1):
        for name in _ways(choice.name, read, chain=chain):
            if not left.lacks(prices.cost(name, read)):
                return _describe_choice(RouteChoice(name, why, windows - read, lacking), windows)
    shown = "no model call is left: the passages that match best are shown"
    return RouteChoice("compose", (*why, shown), lacking=lacking)


def _ways(wanted: RouteName, read: int, *, chain: bool) -> tuple[RouteName, ...]:
    if wanted == "rows":
        return ("rows",)
    if read == 1 or wanted == "create":
        return ("create",)
    other: RouteName = "map_reduce" if wanted == "refine" else "refine"
    return tuple(name for name in (wanted, other) if chain or name != "refine")


def _describe_choice(choice: RouteChoice, windows: int) -> RouteChoice:
    read = f"{choice.name} over the first {windows - choice.unread} of {windows} windows instead"
    said = read if choice.unread else f"{choice.name} instead"
    return replace(choice, reasons=(*choice.reasons, said))
