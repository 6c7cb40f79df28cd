"""Finds the words of a passage that support a claim: the writer's quote, a sentence or two, the row of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from anabranch.citations.claims import Claim
from anabranch.citations.lexical_support import Wording, wording
from anabranch.citations.quantities import Figure, figures, has, lacking
from anabranch.citations.quote_matching import Folded, find_quote, fold, locate, nearest
from anabranch.citations.table_cells import TableRow, find_row, table_rows, wrong_column
from anabranch.text.sentences import spans

ENOUGH = 0.7
"""Share of a claim's words and numbers that a sentence needs to support it by itself."""

RELATED = 0.35
"""Share that a writer's quote needs: the writer chose it, and may have put the claim in other words."""

TOUCHED = 0.2
"""Share that it needs where the passage around it has most of the claim: many quote no more than the point of it."""

_AROUND = 0.6

LONGEST = 400
"""Characters of a quote that is shown."""

_MAX_PIECES = 400
_SAME = 0.85
_PAIR_COSTS = 0.1


@dataclass(frozen=True, slots=True)
class PassagePiece:
    """A sentence of a passage or the row of a table, at [start, end), or two of them in a row."""

    start: int
    end: int
    wording: Wording
    is_row: bool = False


@dataclass(frozen=True)
class PassageText:
    """A passage as the model saw it, read once for all claims.

    Attributes:
        id: Id of its chunk.
        text: Its words.
        label: Title, heading and source: what it is about where it does not say so itself.
    """

    id: str
    text: str
    label: str = ""

    @cached_property
    def folded(self) -> Folded:
        """Its text as quotations are looked up in it."""
        return fold(self.text)

    @cached_property
    def rows(self) -> tuple[TableRow, ...]:
        """The rows of its tables."""
        return table_rows(self.text)

    @cached_property
    def pieces(self) -> tuple[PassagePiece, ...]:
        """Its sentences and rows without the blanks around them, a very long one in overlapping parts.

        A row says what the names of its columns say as well.
        """
        found: list[PassagePiece] = []
        names = {row.start: wording(" ".join(row.names)) for row in self.rows}
        for first, last in _with_rows(self.text, self.rows):
            piece = self.text[first:last]
            parts = _parts(self.text, first + len(piece) - len(piece.lstrip()), first + len(piece.rstrip()))
            for start, end in parts:
                said, is_row = wording(self.text[start:end]), start in names
                found.append(PassagePiece(start, end, said.joined(names[start]) if is_row else said, is_row))
            if len(found) >= _MAX_PIECES:
                break
        return tuple(found[:_MAX_PIECES])

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of its pieces."""
        return frozenset[str]().union(*(piece.wording.words for piece in self.pieces))

    @cached_property
    def label_figures(self) -> tuple[Figure, ...]:
        """The numbers of its label, such as the year of a report."""
        return figures(self.label)


@dataclass(frozen=True)
class OfferedQuote:
    """Words that the writer says it copied from a passage, looked up once for all claims."""

    text: str
    passage: PassageText

    @cached_property
    def wording(self) -> Wording:
        """What it says."""
        return wording(self.text)

    @cached_property
    def span(self) -> tuple[int, int] | None:
        """Where it stands in the passage."""
        return find_quote(self.text, self.passage.folded) or find_row(self.text, self.passage.rows)

    @cached_property
    def nearest(self) -> tuple[float, tuple[int, int]]:
        """How like it the likest words of the passage are, and where they stand."""
        return nearest(self.text, self.passage.text)

    def span_for(self, claim: Claim) -> tuple[int, int] | None:
        """Return where it stands; a sentence too short to prove anything only where it is the whole claim."""
        if self.span or self.text.strip(" .") != claim.text.strip(" ."):
            return self.span
        return locate(self.text, self.passage.folded)


def quoted_span(claim: Claim, offered: Iterable[OfferedQuote], passage: PassageText) -> tuple[int, int] | None:
    """Return the span of the writer's quote that supports the claim best, of those that stand in the passage."""
    words = claim.wording.words
    least = TOUCHED if len(words & passage.words) >= _AROUND * len(words) else RELATED
    for quote in sorted(offered, key=lambda quote: claim.wording.support_by(quote.wording), reverse=True):
        if claim.wording.support_by(quote.wording) < least:
            break
        span = quote.span_for(claim)
        if span and (shown := _shown(claim, passage, span)):
            return shown
    return None


def repaired_span(claim: Claim, offered: Iterable[OfferedQuote], passage: PassageText) -> tuple[int, int] | None:
    """Return the words of a cited passage that support the claim: itself, the best sentence, a misquoted one."""
    score, span = _best(claim, passage)
    if score >= ENOUGH:
        return span
    for quote in offered:
        if claim.wording.support_by(quote.wording) >= RELATED:
            likeness, span = quote.nearest
            there = wording(passage.text[slice(*span)])
            if likeness >= _SAME and claim.wording.support_by(there) >= RELATED:
                shown = _shown(claim, passage, span)
                if shown:
                    return shown
    return None


def best_passage(claim: Claim, passages: Mapping[int, PassageText]) -> tuple[int, tuple[int, int]] | None:
    """Return the passage that supports a claim best of all, and the span of its words; None where none does."""
    found = [(_best(claim, passage), number) for number, passage in passages.items()]
    (score, span), number = max(found, key=lambda each: each[0][0], default=((0.0, (0, 0)), 0))
    return (number, span) if score >= ENOUGH else None


def _best(claim: Claim, passage: PassageText) -> tuple[float, tuple[int, int]]:
    """Return the support of the sentence, or the two in a row, that supports the claim best, and its span.

    A sentence with another number that has more words of the claim is a rival: a year of the mill is no proof of when
    the weir was built.
    """
    whole = find_quote(claim.text, passage.folded)
    if whole:
        return 1.0 + _PAIR_COSTS, _trimmed(claim, passage, whole)
    said = claim.wording
    shared = [len(said.words & piece.wording.words) for piece in passage.pieces]
    rivals = [_differs(said, piece) for piece in passage.pieces]
    most = max((count for count, rival in zip(shared, rivals, strict=True) if rival), default=0)
    own = [0 if rival else count for count, rival in zip(shared, rivals, strict=True)]
    best, place = 0.0, (0, 0)
    for first, last, piece in _candidates(passage.pieces):
        score = said.support_by(piece.wording)
        cost = _PAIR_COSTS * (last - first)
        if score < ENOUGH or score - cost <= best or max(own[first], own[last]) < most:
            continue
        if _agrees(claim, passage, piece.start, piece.end, piece.wording.figures):
            best, place = score - cost, (piece.start, piece.end)
    return best, place


def _candidates(pieces: Sequence[PassagePiece]) -> Iterator[tuple[int, int, PassagePiece]]:
    """Yield each piece, and each sentence with the next one, with the places of the first and the last of its parts."""
    for at, piece in enumerate(pieces):
        yield at, at, piece
        if at + 1 < len(pieces):
            after = pieces[at + 1]
            if piece.end < after.end <= piece.start + LONGEST and not (piece.is_row or after.is_row):
                yield at, at + 1, PassagePiece(piece.start, after.end, piece.wording.joined(after.wording))


def _differs(said: Wording, piece: PassagePiece) -> bool:
    """Tell whether a sentence lacks a number of the claim and has one that the claim has not."""
    there = piece.wording.figures
    return bool(lacking(said.figures, there)) and any(not has(said.figures, one) for one in there)


def _agrees(claim: Claim, passage: PassageText, start: int, end: int, there: Sequence[Figure]) -> bool:
    """Tell whether the numbers of a claim are in some words of a passage or its label, in a table in their column."""
    shown = [row for row in passage.rows if row.start < end and start < row.end]
    around = [*passage.label_figures, *(figure for row in shown for figure in figures(" ".join(row.names)))]
    if any(not has(around, figure) for figure in lacking(claim.wording.figures, there)):
        return False
    return not wrong_column(claim.text, claim.wording, shown, passage.rows)


def _shown(claim: Claim, passage: PassageText, span: tuple[int, int]) -> tuple[int, int] | None:
    """Return the part of a quote that is shown, with the sentence around it where only that has the claim's numbers."""
    span = _trimmed(claim, passage, span)
    if find_quote(claim.text, passage.folded):
        return span  # the claim is a quotation itself, perhaps longer than what is shown
    for start, end in (span, _sentences_around(passage, span)):
        if _agrees(claim, passage, start, end, figures(passage.text[start:end])):
            return start, end
    return None


def _sentences_around(passage: PassageText, span: tuple[int, int]) -> tuple[int, int]:
    touched = [piece for piece in passage.pieces if piece.start < span[1] and span[0] < piece.end]
    start = min([span[0], *(piece.start for piece in touched)])
    end = max([span[1], *(piece.end for piece in touched)])
    return (start, end) if end - start <= LONGEST else span


def _trimmed(claim: Claim, passage: PassageText, span: tuple[int, int]) -> tuple[int, int]:
    """Cut a quote that is too long to show to the sentence of it that supports the claim best."""
    start, end = span
    if end - start <= LONGEST:
        return span
    inside = [piece for piece in passage.pieces if start <= piece.start and piece.end <= end]
    best = max(inside, key=lambda piece: claim.wording.support_by(piece.wording), default=None)
    return (best.start, best.end) if best else (start, start + LONGEST)


def _with_rows(passage: str, rows: Iterable[TableRow]) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a passage; a table, which has no stops, row by row."""
    cuts = {place for row in rows for place in (row.start, row.end)}
    for start, end in spans(passage):
        yield from pairwise([start, *sorted(place for place in cuts if start < place < end), end])


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST:
        cut = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
        yield start, cut if cut > 0 else start + LONGEST
        half = text.find(" ", start + LONGEST // 2, max(cut, 0))
        start = half + 1 if half > 0 else start + LONGEST // 2
    if end > start:
        yield start, end
