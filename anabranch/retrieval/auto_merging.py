"""Auto-merging: passages that lie together are replaced by the larger passage that holds them.

The chunk tree is folded bottom-up. The result depends on which chunks were retrieved and how well, never on the order
in which they came.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from anabranch.errors import CorpusDamagedError, SettingsError

# Computes a parent's score from those of the candidates inside it.
Aggregate = Callable[[Sequence[float]], float]
DEFAULT_GAP = 1


@dataclass(frozen=True, slots=True)
class MergedPassage:
    """One passage after merging.

    Attributes:
        id: The chunk to read.
        score: The best score of its candidates, unless another rule was given.
        because: The candidates it stands for, sorted; empty for a gap that was filled in.
    """

    id: str
    score: float
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of merging.

    Attributes:
        results: Best first, equal scores by id; no passage lies inside another.
        parents: Ids of the passages that replaced retrieved children, sorted.
        filled: Ids of the passages that were filled in between retrieved neighbours, sorted.
        missing: Parents that are gone or out of the caller's scope, so that their children stay, sorted.
    """

    results: tuple[MergedPassage, ...]
    parents: tuple[str, ...]
    filled: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(slots=True)
class _Branch:
    """What is left of the subtree under one chunk: passages, and whether they cover the chunk whole."""

    passages: list[MergedPassage]
    whole: bool


@dataclass(slots=True)
class _Room:
    """The tokens that may still be added."""

    left: float

    def take(self, tokens: int) -> bool:
        """Take tokens, if enough are left."""
        if tokens > self.left:
            return False
        self.left -= max(tokens, 0)
        return True


@dataclass(frozen=True, slots=True)
class _Rule:
    threshold: float
    gap: int
    sizes: Mapping[str, int]
    budget: int | None
    room: _Room
    candidates: Mapping[str, float]
    score: Aggregate

    def replacement(self, chunk_id: str, inside: Sequence[MergedPassage]) -> MergedPassage:
        """Return one passage that stands for all those inside it."""
        because = sorted({candidate for passage in inside for candidate in passage.because})
        return MergedPassage(chunk_id, self.score([self.candidates[one] for one in because]), tuple(because))

    def fits(self, chunk_id: str) -> bool:
        return self.budget is None or self.sizes.get(chunk_id, 0) <= self.budget

    def takes(self, wanted: Iterable[str], instead_of: Iterable[MergedPassage]) -> bool:
        """Tell whether there is room for what these chunks add to the passages inside them, and take it."""
        more = sum(self.sizes.get(one, 0) for one in wanted)
        return self.room.take(more - sum(self.sizes.get(passage.id, 0) for passage in instead_of))


def merge(
    candidates: Mapping[str, float],
    parents: Mapping[str, str | None],
    children: Mapping[str, Sequence[str]],
    *,
    threshold: float,
    gap: int = DEFAULT_GAP,
    sizes: Mapping[str, int] | None = None,
    budget: int | None = None,
    room: int | None = None,
    score: Aggregate = max,
) -> Merged:
    """Replace children by their parent where more than `threshold` of its unique children were retrieved.

    Level by level from the leaves up. Before the ratio is taken, a run of up to `gap` missing siblings between two
    that are there is filled in, in document order; what is filled in stays, even if the parent does not take over. A
    parent that was retrieved itself, or that takes over, absorbs everything below it.

    A parent with a single child holds the same passage, so nothing replaces anything: the child stays, and stands for
    the parent when the next level counts. Where that is all the evidence there is, it cannot make the next level
    merge, however low the threshold: one hit must not climb just because a section is short.

    Args:
        candidates: Finite score by id of each retrieved chunk, of any level.
        parents: Parent of every candidate and of every ancestor of one; None for a root.
        children: Ids one level down, in document order, for every parent that the caller may read.
        threshold: Ratio in [0, 1] that has to be exceeded.
        gap: Longest run of missing siblings to fill in; 0 fills nothing.
        sizes: Tokens by chunk id, for `budget` and `room`; what is not in it is taken to fit and to cost nothing.
        budget: Largest passage, in tokens, that may come in for its children or a gap; None for no limit.
        room: Tokens that may come in altogether, beside those of the candidates; None for no limit. Level by level,
            the sections with the best candidates come first.
        score: What a parent's score is, of those of the candidates it stands for, in the order of their ids.

    Returns:
        The passages, and what was merged, filled in and missing.

    Raises:
        SettingsError: `threshold` or `gap` is out of bounds.
        CorpusDamagedError: The chunk tree has a cycle.
    """
    if not 0 <= threshold <= 1:
        raise SettingsError(
            f"The merge threshold cannot be {threshold!r}.", hint="Use a ratio from 0 to 1, such as 0.75."
        )
    if gap < 0:
        raise SettingsError(f"The gap to fill cannot be {gap!r}.", hint="Use 0 to fill nothing, 1 for one passage.")
    rule = _Rule(threshold, gap, sizes or {}, budget, _Room(math.inf if room is None else room), candidates, score)
    branches = {one: _Branch([MergedPassage(one, score, (one,))], True) for one, score in candidates.items()}
    missing: list[str] = []
    for parent, below in _bottom_up(candidates, parents):
        if parent not in children and parent not in candidates:
            missing.append(parent)
        here = [branches.pop(child) for child in below]
        known = children.get(parent)
        branches[parent] = _join(parent, dict(zip(below, here, strict=True)), branches.get(parent), known, rule)
    return _report([one for branch in branches.values() for one in branch.passages], candidates, missing)


def room_left(tokens: Iterable[int], window: int) -> int:
    """Return how many tokens fit into the windows that passages need anyway, so that merging costs no model call.

    Args:
        tokens: Of each passage.
        window: Tokens of a window, > 0.
    """
    return -sum(tokens) % window


def _bottom_up(candidates: Mapping[str, float], parents: Mapping[str, str | None]) -> list[tuple[str, list[str]]]:
    """Return each ancestor of a candidate with those of its children that hold one, deepest and best ones first."""
    below: defaultdict[str, set[str]] = defaultdict(set)
    depth: dict[str, int] = {}
    best: dict[str, float] = {}
    for candidate, score in candidates.items():
        path = _path(candidate, parents)
        best.update((chunk_id, max(score, best.get(chunk_id, score))) for chunk_id in path)
        depth.update((chunk_id, distance) for distance, chunk_id in enumerate(reversed(path)))
        for child, parent in pairwise(path):
            below[parent].add(child)
    return [(one, sorted(below[one])) for one in sorted(below, key=lambda one: (-depth[one], -best[one], one))]


def _path(chunk_id: str, parents: Mapping[str, str | None]) -> list[str]:
    """Return a chunk and its ancestors up to the root."""
    path = [chunk_id]
    while (parent := parents.get(path[-1])) is not None:
        if parent in path:
            message = f"The chunk {chunk_id!r} lies inside itself."
            raise CorpusDamagedError(message, hint="Verify the corpus and ingest the document again.")
        path.append(parent)
    return path


def _join(
    parent: str, below: dict[str, _Branch], own: _Branch | None, known: Sequence[str] | None, rule: _Rule
) -> _Branch:
    """Fold the branches under one parent into the parent's own branch."""
    inside = [passage for branch in below.values() for passage in branch.passages]
    # It was retrieved itself: its children say nothing that it does not hold.
    if own is not None:
        return _Branch([rule.replacement(parent, [*own.passages, *inside])], True)
    if known is None:
        return _Branch(inside, False)
    # A child that the store does not list (another generation wrote it) counts, so that merging cannot lose it.
    siblings = list(dict.fromkeys([*known, *below]))
    if len(siblings) == 1:
        return _Branch(inside, next(iter(below.values())).whole)
    _fill(siblings, below, rule)
    inside = [passage for branch in below.values() for passage in branch.passages]
    present = [child for child in siblings if child in below and below[child].whole]
    # More than the share, not as much: LlamaIndex compares the same way, and 0.5 of two is one hit.
    enough = len(present) / len(siblings) > rule.threshold and not _only_climbed(present, below)
    if enough and rule.fits(parent) and rule.takes([parent], inside):
        return _Branch([rule.replacement(parent, inside)], True)
    return _Branch(inside, False)


def _only_climbed(present: list[str], below: dict[str, _Branch]) -> bool:
    """Tell whether all there is, is one passage that stands for a parent with a single child."""
    return len(present) == 1 and below[present[0]].passages[0].id != present[0]


def _fill(siblings: list[str], below: dict[str, _Branch], rule: _Rule) -> None:
    """Add the short runs of missing siblings between two that are there; what lies below them is absorbed."""
    places = [place for place, child in enumerate(siblings) if child in below and below[child].whole]
    for left, right in pairwise(places):
        between = siblings[left + 1 : right]
        if not 0 < len(between) <= rule.gap or not all(rule.fits(child) for child in between):
            continue
        if not rule.takes(between, [one for child in between if child in below for one in below[child].passages]):
            continue
        edge = min(_best(below[siblings[left]]), _best(below[siblings[right]]))
        for child in between:
            inside = below[child].passages if child in below else []
            # No better than its weaker neighbour: nobody retrieved it.
            filled = rule.replacement(child, inside) if inside else MergedPassage(child, edge, ())
            below[child] = _Branch([filled], True)


def _best(branch: _Branch) -> float:
    return max(passage.score for passage in branch.passages)


def _report(passages: list[MergedPassage], candidates: Mapping[str, float], missing: list[str]) -> Merged:
    new = [passage for passage in passages if passage.id not in candidates]
    return Merged(
        results=tuple(sorted(passages, key=lambda passage: (-passage.score, passage.id))),
        parents=tuple(sorted(passage.id for passage in new if passage.because)),
        filled=tuple(sorted(passage.id for passage in new if not passage.because)),
        missing=tuple(sorted(missing)),
    )
