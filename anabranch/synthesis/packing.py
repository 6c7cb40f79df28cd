"""Fills windows of a model's context with passages: the best in the first window, none twice, none lost silently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from anabranch.errors import SettingsError
from anabranch.synthesis.near_duplicates import Duplicates
from anabranch.text.sentences import spans

# The cost of a passage in another measure, given its text and its tokens.
Cost = Callable[[str, int], int]
# Whether a text is small enough; if it is, so is every beginning of it.
Holds = Callable[[str], bool]
# Start and end of a piece, and whether it is of whole sentences.
Cut = tuple[int, int, bool]
# Characters per token that nothing but padding exceeds; keeps the search for a cut short.
_LONGEST_TOKEN = 32


@dataclass(frozen=True, slots=True)
class PackablePassage:
    """A passage, or a piece of one, to be packed.

    Attributes:
        id: Chunk id; the pieces of a passage share it.
        doc_id: Its document.
        start: First character in the document's text.
        end: One past the last character.
        score: Relevance; larger is better.
        tokens: Length of `text` by the counter that the budget is meant in.
        text: The characters in [start, end).
        parts: Where its children begin, in the document's text; where a passage is too large, it is cut there first.
    """

    id: str
    doc_id: str
    start: int
    end: int
    score: float
    tokens: int
    text: str
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Limit:
    """A second bound of a window, in its own measure: the room in the chat model's context.

    Attributes:
        tokens: Room in each window.
        cost: The cost of one passage with its envelope.
    """

    tokens: int
    cost: Cost


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
    """Windows of passages, and the passages that were dropped.

    Attributes:
        windows: Best window first; inside one, sources by their best score and passages of a source in document order.
        dropped: Dropped passages in order of score.
        torn: Ids of passages of which a sentence larger than a window had to be cut, in order of score.
    """

    windows: tuple[tuple[PackablePassage, ...], ...]
    dropped: tuple[Dropped, ...]
    torn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The bounds of one window."""

    budget: int
    overhead: int
    count: Callable[[str], int]
    limit: Limit | None

    @property
    def room(self) -> int:
        """The largest piece, in tokens."""
        return self.budget - self.overhead

    def cost(self, text: str, tokens: int) -> int:
        return self.limit.cost(text, tokens) if self.limit else 0

    def holds(self, text: str, tokens: int | None = None) -> bool:
        """Tell whether an empty window has room for a text."""
        length = self.count(text) if tokens is None else tokens
        return length <= self.room and (self.limit is None or self.cost(text, length) <= self.limit.tokens)


@dataclass(slots=True)
class _Window:
    room: int
    left: int
    passages: list[PackablePassage] = field(default_factory=list)

    def take(self, piece: PackablePassage, tokens: int, cost: int) -> bool:
        """Add a piece if there is room for it."""
        if tokens > self.room or cost > self.left:
            return False
        self.passages.append(piece)
        self.room -= tokens
        self.left -= cost
        return True


def pack(
    passages: Sequence[PackablePassage],
    *,
    budget: int,
    count: Callable[[str], int],
    max_windows: int | None = None,
    overhead: int = 0,
    limit: Limit | None = None,
    in_order: bool = False,
) -> Packed:
    """Fill windows of at most `budget` tokens, best passages first.

    Each passage goes, in order of score, to the first window with room for it. Passages that repeat better ones, and
    those that lie inside one, are dropped. A passage that is larger than a window is cut where its children begin, a
    child that is still too large at sentence ends, and a sentence only where it must be, at words; the pieces keep the
    passage's id and have a span of their own.

    Args:
        passages: In any order.
        budget: Tokens per window, > 0.
        count: Token counter, the one that `PackablePassage.tokens` comes from.
        max_windows: Most windows to fill; None for as many as it takes.
        overhead: Tokens of the budget that the envelope adds to each passage.
        limit: A second bound that every window has to keep as well; None for none.
        in_order: Whether the windows hold the passages as they come, repetitions as well: where all is read, the order
            is that of reading, and a repetition counts.

    Returns:
        The windows and the drops; together they hold every character of every passage.

    Raises:
        SettingsError: The budget or the limit leaves no room for a token, or `max_windows` is below 1.
    """
    bounds = _Bounds(budget, overhead, count, limit)
    if bounds.room < 1 or (limit is not None and limit.tokens < 1):
        raise SettingsError(f"A window of {budget!r} tokens holds no passage.", hint="Use a larger window.")
    if max_windows is not None and max_windows < 1:
        raise SettingsError(f"max_windows cannot be {max_windows!r}.", hint="Use 1 or more, or leave it out.")
    # Use first fit: the best passages belong in the window that is read first.
    dropped: list[Dropped] = []
    windows: list[_Window] = []
    torn: dict[str, None] = {}
    for passage in passages if in_order else _drop_duplicates(sorted(passages, key=_order), dropped):
        for piece, whole in _pieces(passage, bounds):
            if not whole:
                torn[piece.id] = None
            if not bounds.holds(piece.text, piece.tokens):
                dropped.append(Dropped(piece.id, piece.start, piece.end, "over_budget"))
            elif not _place(piece, windows, bounds, max_windows, only_last=in_order):
                dropped.append(Dropped(piece.id, piece.start, piece.end, "over_limit"))
    arrange = tuple[PackablePassage, ...] if in_order else _arrange
    return Packed(tuple(arrange(window.passages) for window in windows), tuple(dropped), tuple(torn))


def _order(passage: PackablePassage) -> tuple[float, str, int, str, int]:
    # The order includes the id, so that windows do not depend on the order of the passages.
    return (-passage.score, passage.doc_id, passage.start, passage.id, -passage.end)


def _drop_duplicates(passages: Iterable[PackablePassage], dropped: list[Dropped]) -> Iterator[PackablePassage]:
    """Yield the passages that are no duplicates, and report the others."""
    known = Duplicates()
    kept: dict[str, list[PackablePassage]] = {}
    for passage in passages:
        original = _container(passage, kept.get(passage.doc_id, [])) or known.find(
            passage.id, passage.text, doc_id=passage.doc_id, start=passage.start, end=passage.end
        )
        if original is None:
            kept.setdefault(passage.doc_id, []).append(passage)
            yield passage
        else:
            dropped.append(Dropped(passage.id, passage.start, passage.end, f"duplicate_of {original}"))


def _container(passage: PackablePassage, passages: Iterable[PackablePassage]) -> str | None:
    return next((one.id for one in passages if one.start <= passage.start and passage.end <= one.end), None)


def _place(
    piece: PackablePassage, windows: list[_Window], bounds: _Bounds, max_windows: int | None, *, only_last: bool
) -> bool:
    """Put a piece into the first window with room, or into a new one where one is left."""
    tokens, cost = piece.tokens + bounds.overhead, bounds.cost(piece.text, piece.tokens)
    if any(window.take(piece, tokens, cost) for window in (windows[-1:] if only_last else windows)):
        return True
    if max_windows is not None and len(windows) >= max_windows:
        return False
    windows.append(_Window(bounds.budget, bounds.limit.tokens if bounds.limit else 0))
    return windows[-1].take(piece, tokens, cost)


def _arrange(passages: Iterable[PackablePassage]) -> tuple[PackablePassage, ...]:
    """Return the best source first, each source in document order."""
    sources: dict[str, list[PackablePassage]] = {}
    for passage in passages:
        sources.setdefault(passage.doc_id, []).append(passage)
    best = sorted(sources.values(), key=lambda several: min(map(_order, several)))
    return tuple(one for several in best for one in sorted(several, key=lambda one: (one.start, one.end, one.id)))


def _pieces(passage: PackablePassage, bounds: _Bounds) -> Iterator[tuple[PackablePassage, bool]]:
    """Yield the passage, or where it is too large, pieces of it, and whether each is of whole sentences."""
    if bounds.holds(passage.text, passage.tokens):
        yield passage, True
        return
    inner = [start - passage.start for start in passage.parts]
    for start, end, whole in cut(passage.text, inner, bounds.holds, longest=_LONGEST_TOKEN * bounds.room):
        text = passage.text[start:end]
        piece = replace(passage, start=passage.start + start, end=passage.start + end, text=text, parts=())
        yield replace(piece, tokens=bounds.count(text)), whole


def cut(text: str, inner: Sequence[int], holds: Holds, *, longest: int) -> Iterator[Cut]:
    """Yield spans that cover the text, as few as its parts and sentences allow.

    Args:
        text: A text that may be too large.
        inner: Where its parts begin; a part that is too large is cut by itself.
        holds: Whether a piece is small enough.
        longest: Most characters of a piece.

    Yields:
        Spans in order, each small enough if a single character is.
    """
    begin = 0
    for start, end in pairwise([0, *sorted({one for one in inner if 0 < one < len(text)}), len(text)]):
        if begin < start and not holds(text[begin:end]):
            yield from _sentences(text, begin, start, holds, longest)
            begin = start
    yield from _sentences(text, begin, len(text), holds, longest)


def _sentences(text: str, begin: int, stop: int, holds: Holds, longest: int) -> Iterator[Cut]:
    """Yield spans that cover text[begin:stop], as few as sentence ends allow."""
    if holds(text[begin:stop]):
        yield begin, stop, True
        return
    first, whole = begin, True
    for start, end in ((first + start, first + end) for start, end in spans(text[first:stop])):
        if begin < start and not holds(text[begin:end]):
            yield begin, start, whole
            begin, whole = start, True
        while not holds(text[begin:end]) and end - begin > 1:
            middle, whole = _word_end(text, begin, end, holds, longest), False
            yield begin, middle, whole
            begin = middle
    if begin < stop:
        yield begin, stop, whole


def _word_end(text: str, begin: int, end: int, holds: Holds, longest: int) -> int:
    """Return where the longest fitting beginning of text[begin:end] ends, at a word if there is one."""
    low, high = begin + 1, min(end, begin + longest)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(text[begin:middle]) else (low, middle)
    word = text.rfind(" ", begin + 1, low) + 1
    return word if word and holds(text[begin:word]) else low
