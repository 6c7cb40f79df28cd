"""Rewrites the citation markers of an answer: numbers them by first use, and removes unknown ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.citations.claims import Claim, Marker, markers

NOT_CONFIRMED = "[?]"
_BETWEEN = re.compile(r"[ \t]*+,?[ \t]*+")


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    parts: tuple[int | str, ...]  # a passage number stands for its marker


def mark(answer: str, cited: Sequence[tuple[Claim, Sequence[int]]]) -> tuple[str, dict[int, int]]:
    """Return the answer with new markers, and the marker of each passage number.

    Markers of the supporting passages keep their places in the sentence; what is missing is added at the end. A claim
    that is not confirmed loses its markers and is followed by [?].

    Args:
        answer: The answer, with the markers of its writer.
        cited: Its claims in order, each with the numbers of the passages that support it.
    """
    known = frozenset(number for _, numbers in cited for number in numbers)
    edits: list[_Edit] = []
    groups = _group_markers(answer)
    at = 0
    for claim, numbers in cited:
        while at < len(groups) and groups[at][0].start < claim.start:
            edits.append(_select_numbers(answer, groups[at], known))
            at += 1
        placed: set[int | str] = set()
        while at < len(groups) and groups[at][0].start < claim.end:
            edits.append(_select_numbers(answer, groups[at], known.intersection(numbers)))
            placed.update(edits[-1].parts)
            at += 1
        if missing := [each for each in numbers or (NOT_CONFIRMED,) if each not in placed]:
            edits.append(_Edit(claim.end, claim.end, (" ", *missing)))
    edits += (_select_numbers(answer, group, known) for group in groups[at:])
    return _apply(answer, edits)


def _group_markers(answer: str) -> list[list[Marker]]:
    """Return the markers of an answer, adjacent ones as a group."""
    groups: list[list[Marker]] = []
    for marker in markers(answer):
        if groups and _BETWEEN.fullmatch(answer, groups[-1][-1].end, marker.start):
            groups[-1].append(marker)
        else:
            groups.append([marker])
    return groups


def _select_numbers(answer: str, group: Sequence[Marker], wanted: frozenset[int]) -> _Edit:
    """Return the edit that keeps the wanted numbers of a group, each once; an empty group goes with its blanks."""
    seen: set[int] = set()
    parts: list[int | str] = []
    whole = True
    for index, marker in enumerate(group):
        new = [number for number in marker.numbers if number in wanted and number not in seen]
        seen.update(new)
        whole = whole and bool(new)
        if index:
            parts.append(answer[group[index - 1].end : marker.start])
        parts += new
    start, end = group[0].start, group[-1].end
    if not whole:
        parts = [part for part in parts if isinstance(part, int)]
    if not parts:
        blanks = answer[:start]
        before = start - len(blanks) + len(blanks.rstrip(" \t")) if start and answer[start - 1] in " \t" else start
        at_line_start = before == 0 or answer[before - 1] == "\n"
        # "Revenue [9]rose": without the blank the two words would be one.
        glued = answer[end : end + 1].isalnum()
        if not at_line_start and not (glued and before < start):
            start = before
    return _Edit(start, end, tuple(parts))


def _apply(answer: str, edits: Sequence[_Edit]) -> tuple[str, dict[int, int]]:
    order: dict[int, int] = {}
    parts: list[str] = []
    planned: set[int] = set()
    size = done = 0
    for edit in edits:
        pieces = [answer[done : edit.start]]
        for part in edit.parts:
            is_marker = isinstance(part, int) or part == NOT_CONFIRMED
            text = f"[{order.setdefault(part, len(order) + 1)}]" if isinstance(part, int) else part
            if is_marker:
                planned.add(size + sum(map(len, pieces)))
            pieces.append(text)
        parts += pieces
        size += sum(map(len, pieces))
        done = max(done, edit.end)
    parts.append(answer[done:])
    return _only(planned, "".join(parts)), order


def _only(planned: set[int], text: str) -> str:
    """Turn accidental markers, such as that of "[[9]1]" without the 9, into plain text."""
    while stray := [marker for marker in markers(text) if marker.start not in planned]:
        pieces, done = [], 0
        for marker in stray:
            pieces += [text[done : marker.start], "(", text[marker.start + 1 : marker.end - 1], ")"]
            done = marker.end
        text = "".join([*pieces, text[done:]])
    return text
