"""Puts partial answers into groups that one call can join: neighbours stay together, and no group is over its room."""

from __future__ import annotations

from collections.abc import Sequence


def group(sizes: Sequence[int], *, fan_in: int, room: int) -> list[list[int]]:
    """Return groups of neighbours, as few as the bounds allow.

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
