"""Fills windows with passages: best source first, reading order within a source, nothing said twice, nothing lost.

Document order inside a source is what is proven to help a reader that is a model (DOS-RAG, 2506.03989; OP-RAG,
2409.01666). Passages are taken by relevance until a window is full, so the first window holds the best evidence; only
then is each window put in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from anabranch.corpus.sentences import spans
from anabranch.errors import SettingsError

ALIKE = 0.9
"""Jaccard similarity of word triples from which a passage repeats an earlier one."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage to pack, or a piece of one.

    Attributes:
        id: Chunk id.
        doc_id: Its document.
        start: First character in the document.
        end: One past the last.
        score: Relevance; higher is better.
        tokens: Length of `text`.
        text: The characters of [start, end).
    """

    id: str
    doc_id: str
    start: int
    end: int
    score: float
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """A passage, or piece, that no window shows: `duplicate of <id>` or `over the limit of windows`."""

    id: str
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Packed:
    """Windows in the order to read them, and what was left out with the reason."""

    windows: tuple[tuple[Passage, ...], ...]
    dropped: tuple[Dropped, ...]


def pack(
    passages: Sequence[Passage], *, budget: int, count: Callable[[str], int], max_windows: int | None = None
) -> Packed:
    """Pack passages into windows of at most `budget` tokens.

    Args:
        passages: In any order.
        budget: Tokens of passage text in one window, at least 1.
        count: Counts the tokens of a text; used on pieces of passages that exceed the budget alone.
        max_windows: Windows at most; None for as many as it takes.

    Raises:
        SettingsError: The budget or the limit is below 1.
    """
    if budget < 1 or (max_windows is not None and max_windows < 1):
        msg = f"A window of {budget!r} tokens, at most {max_windows!r} windows: both must be at least 1."
        raise SettingsError(msg, hint="Raise window_tokens.")
    best_first = sorted(passages, key=lambda passage: (-passage.score, passage.doc_id, passage.start, passage.id))
    unique, dropped = _distinct(best_first)
    pieces = [piece for passage in unique for piece in _fitting(passage, budget, count)]
    filled = _filled(pieces, budget)
    if max_windows is not None:
        reason = "over the limit of windows"
        dropped += [Dropped(p.id, p.start, p.end, reason) for window in filled[max_windows:] for p in window]
        filled = filled[:max_windows]
    return Packed(tuple(_in_order(window) for window in filled), tuple(dropped))


def _distinct(best_first: Sequence[Passage]) -> tuple[list[Passage], list[Dropped]]:
    """Drop what repeats a better passage: the same words, or nearly."""
    kept: list[tuple[Passage, frozenset[tuple[str, ...]]]] = []
    dropped: list[Dropped] = []
    for passage in best_first:
        shingles = _shingles(passage.text)
        twin = next((other.id for other, known in kept if _alike(shingles, known)), None)
        if twin is None:
            kept.append((passage, shingles))
        else:
            dropped.append(Dropped(passage.id, passage.start, passage.end, f"duplicate of {twin}"))
    return [passage for passage, _ in kept], dropped


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    if len(words) < 3:
        return frozenset({tuple(words) or (text.strip(),)})
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _alike(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> bool:
    if min(len(a), len(b)) < ALIKE * max(len(a), len(b)):
        return False
    shared = len(a & b)
    return shared >= ALIKE * (len(a) + len(b) - shared)


def _fitting(passage: Passage, budget: int, count: Callable[[str], int]) -> list[Passage]:
    """Return the passage, or its pieces at sentence ends when it does not fit a window alone."""
    if passage.tokens <= budget:
        return [passage]
    pieces: list[Passage] = []
    begin = end = tokens = 0
    for start, stop, size in _units(passage.text, budget, count):
        if tokens + size > budget and end > begin:
            pieces.append(_piece(passage, begin, end, tokens))
            begin, tokens = start, 0
        end, tokens = stop, tokens + size
    pieces.append(_piece(passage, begin, end, tokens))
    return pieces


def _units(text: str, budget: int, count: Callable[[str], int]) -> Iterable[tuple[int, int, int]]:
    """Yield sentences with their tokens; one longer than a window comes in runs of words, then of characters."""
    for start, stop in spans(text):
        size = count(text[start:stop])
        if size <= budget:
            yield start, stop, size
            continue
        yield from _halves(text, start, stop, budget, count)


def _halves(text: str, start: int, stop: int, budget: int, count: Callable[[str], int]) -> Iterable[tuple[int, int, int]]:
    size = count(text[start:stop])
    if size <= budget or stop - start < 2:
        # A single character over the budget cannot be cut; counters count it as 1, and the budget is at least 1.
        yield start, stop, min(size, budget)
        return
    middle = start + (stop - start) // 2
    space = text.rfind(" ", start + 1, middle)
    cut = space + 1 if space > start else middle
    yield from _halves(text, start, cut, budget, count)
    yield from _halves(text, cut, stop, budget, count)


def _piece(passage: Passage, begin: int, end: int, tokens: int) -> Passage:
    return replace(
        passage, start=passage.start + begin, end=passage.start + end, tokens=tokens, text=passage.text[begin:end]
    )


def _filled(pieces: Sequence[Passage], budget: int) -> list[list[Passage]]:
    """Put each piece, best first, into the first window with room for it."""
    windows: list[list[Passage]] = []
    room: list[int] = []
    for piece in pieces:
        place = next((index for index, left in enumerate(room) if piece.tokens <= left), None)
        if place is None:
            windows.append([])
            room.append(budget)
            place = len(windows) - 1
        windows[place].append(piece)
        room[place] -= piece.tokens
    return windows


def _in_order(window: Sequence[Passage]) -> tuple[Passage, ...]:
    """Order a window: the source with the best passage first, reading order within each."""
    best: dict[str, float] = {}
    for passage in window:
        best[passage.doc_id] = max(passage.score, best.get(passage.doc_id, passage.score))
    return tuple(sorted(window, key=lambda p: (-best[p.doc_id], p.doc_id, p.start, p.end, p.id)))
