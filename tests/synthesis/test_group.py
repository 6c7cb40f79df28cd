from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from anabranch.synthesis.budget import group

SIZES = st.lists(st.integers(0, 50), max_size=40)


@given(SIZES, st.integers(2, 8), st.integers(1, 200))
def test_every_answer_is_in_one_group_and_no_group_is_over_its_bounds(sizes: list[int], fan_in: int, room: int) -> None:
    groups = group(sizes, fan_in=fan_in, room=room)
    assert [member for members in groups for member in members] == list(range(len(sizes)))
    for members in groups:
        assert 1 <= len(members) <= fan_in
        assert len(members) == 1 or sum(sizes[member] for member in members) <= room


@given(st.integers(1, 60), st.integers(2, 8))
def test_with_room_enough_there_are_as_few_groups_as_fan_in_allows(count: int, fan_in: int) -> None:
    assert len(group([1] * count, fan_in=fan_in, room=10**6)) == math.ceil(count / fan_in)


def _shrunk(sizes: list[int], groups: list[list[int]], factor: float) -> list[int]:
    return [int(sum(sizes[member] for member in members) * factor) for members in groups]


@given(SIZES.filter(bool), st.integers(2, 8), st.integers(1, 200), st.sampled_from([0.0, 0.5, 1.0, 2.0]))
def test_level_after_level_it_ends_whether_answers_shrink_or_grow(
    sizes: list[int], fan_in: int, room: int, factor: float
) -> None:
    levels = 0
    while len(groups := group(sizes, fan_in=fan_in, room=room)) < len(sizes):
        sizes = _shrunk(sizes, groups, factor)
        levels += 1
        assert levels <= 40
    assert all(len(members) == 1 for members in groups)
