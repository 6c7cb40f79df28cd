"""Fills windows of a model's context with passages: the best in the first window, none twice, none lost silently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from anabranch.corpus.sentences import spans
from anabranch.duplicates import Duplicates
from anabranch.errors import SettingsError

Count = Callable[[str], int]
"""Length of a text in tokens."""

_LONGEST_TOKEN = 32
"""Characters per token that nothing but padding exceeds; keeps the search for a cut short."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage, or a piece of one, to be packed.

    Attributes:
        id: Chunk id; the pieces of a passage share it.
        doc_id: Its document.
        start: First character in the document's text.
        end: One past the last character.
        score: Relevance; larger is better.
        tokens: Length of `text` by the counter that the budget is meant in.
        text: The characters in [start, end).
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
    """A passage, or a piece of one, that is in no window.

    Attributes:
        id: Chunk id.
        start: First character in the document's text.
        end: One past the last character.
        reason: `duplicate_of <id>`, `over_limit` (no window left), or `over_budget` (not even a character fits).
    """

    id: str
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Packed:
    """Windows of passages, and what is not in them.

    Attributes:
        windows: Best window first; inside one, sources by their best score and passages of a source in document order.
        dropped: In order of score.
    """

    windows: tuple[tuple[Passage, ...], ...]
    dropped: tuple[Dropped, ...]


@dataclass(slots=True)
class _Window:
    room: int
    passages: list[Passage] = field(default_factory=list)


def pack(
    passages: Sequence[Passage], *, budget: int, count: Count, max_windows: int | None = None, overhead: int = 0
) -> Packed:
    """Fill windows of at most `budget` tokens, best passages first.

    Each passage goes, in order of score, to the first window with room for it. Near-duplicates of a better passage, and
    passages that lie inside one, are dropped. A passage that is larger than the budget is cut at sentence ends, where
    it must be at words, into pieces that keep its id and their own span.

    Args:
        passages: In any order.
        budget: Tokens per window, > 0.
        count: Token counter, the one that `Passage.tokens` comes from.
        max_windows: Most windows to fill; None for as many as it takes.
        overhead: Tokens that the envelope adds to each passage.

    Returns:
        The windows and the drops; together they hold every character of every passage.

    Raises:
        SettingsError: The budget leaves no room for a token, or `max_windows` is below 1.
    """
    room = budget - overhead
    if room < 1:
        raise SettingsError(f"A window of {budget!r} tokens holds no passage.", hint="Use a larger window.")
    if max_windows is not None and max_windows < 1:
        raise SettingsError(f"max_windows cannot be {max_windows!r}.", hint="Use 1 or more, or leave it out.")
    dropped: list[Dropped] = []
    windows: list[_Window] = []
    for passage in _distinct(sorted(passages, key=_order), dropped):
        for piece in _pieces(passage, room, count):
            if piece.tokens > room:
                dropped.append(Dropped(piece.id, piece.start, piece.end, "over_budget"))
            elif not _place(piece, windows, budget, overhead, max_windows):
                dropped.append(Dropped(piece.id, piece.start, piece.end, "over_limit"))
    return Packed(tuple(_arranged(window.passages) for window in windows), tuple(dropped))


def _order(passage: Passage) -> tuple[float, str, int, str, int]:
    return (-passage.score, passage.doc_id, passage.start, passage.id, -passage.end)


def _distinct(passages: Iterable[Passage], dropped: list[Dropped]) -> Iterator[Passage]:
    """Yield the passages that say something new, and report the others."""
    known = Duplicates()
    kept: dict[str, list[Passage]] = {}
    for passage in passages:
        original = _container(passage, kept.get(passage.doc_id, [])) or known.find(passage.id, passage.text)
        if original is None:
            kept.setdefault(passage.doc_id, []).append(passage)
            yield passage
        else:
            dropped.append(Dropped(passage.id, passage.start, passage.end, f"duplicate_of {original}"))


def _container(passage: Passage, kept: Iterable[Passage]) -> str | None:
    return next((one.id for one in kept if one.start <= passage.start and passage.end <= one.end), None)


def _place(piece: Passage, windows: list[_Window], budget: int, overhead: int, max_windows: int | None) -> bool:
    """Put a piece into the first window with room, or into a new one where one is left."""
    cost = piece.tokens + overhead
    window = next((one for one in windows if one.room >= cost), None)
    if window is None:
        if max_windows is not None and len(windows) >= max_windows:
            return False
        window = _Window(budget)
        windows.append(window)
    window.passages.append(piece)
    window.room -= cost
    return True


def _arranged(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Return the best source first, each source in document order."""
    sources: dict[str, list[Passage]] = {}
    for passage in passages:
        sources.setdefault(passage.doc_id, []).append(passage)
    best = sorted(sources.values(), key=lambda several: min(map(_order, several)))
    return tuple(one for several in best for one in sorted(several, key=lambda one: (one.start, one.end, one.id)))


def _pieces(passage: Passage, room: int, count: Count) -> list[Passage]:
    """Return the passage, or where it is too large, pieces of it that are not."""
    if passage.tokens <= room:
        return [passage]
    pieces: list[Passage] = []
    for start, end in _cuts(passage.text, room, count):
        text = passage.text[start:end]
        pieces.append(
            replace(passage, start=passage.start + start, end=passage.start + end, text=text, tokens=count(text))
        )
    return pieces


def _cuts(text: str, room: int, count: Count) -> Iterator[tuple[int, int]]:
    """Yield spans that cover the text, as few as sentence ends allow, each within the room if a character is."""
    begin = 0
    for start, end in spans(text):
        if begin < start and count(text[begin:end]) > room:
            yield begin, start
            begin = start
        while count(text[begin:end]) > room and end - begin > 1:
            middle = _word_end(text, begin, end, room, count)
            yield begin, middle
            begin = middle
    if begin < len(text):
        yield begin, len(text)


def _word_end(text: str, begin: int, end: int, room: int, count: Count) -> int:
    """Return where the longest fitting beginning of text[begin:end] ends, at a word if there is one."""
    low, high = begin + 1, min(end, begin + _LONGEST_TOKEN * room)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(text[begin:middle]) <= room else (low, middle)
    word = text.rfind(" ", begin + 1, low) + 1
    return word if word and count(text[begin:word]) <= room else low
