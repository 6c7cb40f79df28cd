"""A passage for the claim check: its sentences, pairs of them, and the rows of its tables, read once."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise

from anabranch.citations.citation_record import LONGEST
from anabranch.citations.quantities import Figure, has, in_terms_of
from anabranch.citations.quote_matching import Folded, fold
from anabranch.citations.table_cells import TableRow, denied_cells, table_rows
from anabranch.citations.tokens import Token, tokens
from anabranch.text.language import language_of
from anabranch.text.sentences import running_spans

# Most letters of an ending that makes another word, and least letters of the word before it.
_ENDING, _ROOT = 2, 4
# A passage of one-word lines has thousands of pieces, and each claim is compared with all of them.
_MAX_PIECES = 400

_SEMICOLON = re.compile(r"[;；؛]")
# Items of a list in running text, as contracts have them: "(b)" goes on in lower case, so that no sentence ends there.
_ITEM = re.compile(r"[.;:]\s+(?=\((?:[a-z]|[ivx]{1,4}|\d{1,2})\)\s)")

# The head of a mail, also that of a quoted mail, in several languages.
_MAIL_HEAD = re.compile(
    r"(?:(?:From|To|Cc|Bcc|Date|Sent|Subject|Reply-To|Von|An|Datum|Gesendet|Betreff|De|À|Objet|Envoyé|Para|Asunto|Fecha"
    r"|Enviado|Da|A|Data|Inviato|Oggetto): ?[^\n]*(?:\n|\Z)\s*){2,}"
)


@dataclass(frozen=True)
class Piece:
    """A sentence of a passage, two of them in a row, or the row of a table, at [start, end).

    Attributes:
        start: Where it starts in the passage.
        end: Where it ends.
        tokens: Its words; those of a row include the names of its columns.
        rows: The row; empty for sentences.
        first: How many of its tokens are in the first of two sentences; 0 for one sentence.
        denied: For a row, the stems of the name of each column whose cell is only "no"; tokens leave these out.
        other_tokens: For such a row, the words and numbers of its other columns, with their names.
    """

    start: int
    end: int
    tokens: tuple[Token, ...]
    rows: tuple[TableRow, ...] = ()
    first: int = 0
    denied: tuple[frozenset[str], ...] = ()
    other_tokens: tuple[Token, ...] = ()

    @cached_property
    def terms(self) -> frozenset[str]:
        """The stems of its words."""
        return frozenset(chain.from_iterable(token.terms for token in self.tokens))

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words, folded."""
        return frozenset(token.text for token in self.tokens)

    @cached_property
    def initials(self) -> str:
        """The first letters of its content words in a row."""
        return "".join(token.text[:1] for token in self.tokens if token.terms)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Its keys in an index of words (`lookup_keys`)."""
        others = (lookup_keys(token) for token in self.tokens if token.figure or token.number)
        return self.terms.union(*others)

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Its numbers, each once."""
        return tuple(dict.fromkeys(token.figure for token in self.tokens if token.figure))

    def has(self, item: Token) -> bool:
        """Tell whether it has a word or a number of a claim."""
        if item.number:
            return any(token.kind == item.kind and token.number == item.number for token in self.tokens)
        if item.figure and item.kind == "figure":
            return has(self.figures, item.figure)
        if item.text in self.words or (bool(item.terms) and self.terms.issuperset(item.terms)):
            return True
        # "CEO" stands for "chief executive officer".
        return item.kind == "code" and item.text.isalpha() and len(item.text) > 2 and item.text in self.initials

    def has_derived(self, item: Token) -> bool:
        """Tell whether it has a word of a claim with a further ending, such as "wooden" for "wood"."""
        return any(
            own.startswith(term) and len(own) <= len(term) + _ENDING
            for term in item.terms
            if item.kind == "word" and len(term) >= _ROOT
            for own in self.terms
        )

    def count_denials(self, claim: Sequence[Token]) -> int:
        """Return how many cells that are only "no" deny a claim: those whose column it names.

        In "Quad | 10.00 | no", the missing cox does not deny the price.
        """
        stems = frozenset(chain.from_iterable(token.terms for token in claim))
        spoken = sum(not stems.isdisjoint(names) for names in self.denied)
        if spoken or not self.denied:
            return spoken
        # A claim without words of another column may be the row's name: "Dogs in the hall | no".
        others = Piece(0, 0, self.other_tokens)
        return 0 if any(token.is_content and others.has(token) for token in claim) else len(self.denied)


@dataclass(frozen=True)
class PassageText:
    """A passage as the model saw it, read once for all claims.

    Attributes:
        id: Id of its chunk.
        text: Its text.
        label: Title, heading and source, which may say what the passage is about.
    """

    id: str
    text: str
    label: str = ""

    @cached_property
    def language(self) -> str:
        """The language it is written in."""
        return language_of(self.text, "english")

    @cached_property
    def folded(self) -> Folded:
        """Its text, folded to look up quotes."""
        return fold(self.text)

    @cached_property
    def rows(self) -> tuple[TableRow, ...]:
        """The rows of its tables."""
        return table_rows(self.text)

    @cached_property
    def about(self) -> Piece:
        """Its label."""
        return Piece(0, 0, tuple(tokens(self.label, self.language)))

    @cached_property
    def whole(self) -> Piece:
        """The whole passage, with its label."""
        inside = chain.from_iterable(piece.tokens for piece in self.sentences)
        return Piece(0, len(self.text), (*self.about.tokens, *inside))

    @cached_property
    def sentences(self) -> tuple[Piece, ...]:
        """Its sentences and rows; very long ones in overlapping parts, rows with the names of their columns."""
        read = tokens(self.text, self.language)
        found: list[Piece] = []
        places = [token.start for token in read]
        heads = {names: tokens(" ".join(names), self.language) for names in {row.names for row in self.rows}}
        for first, last in _split_rows(self.text, self.rows):
            for start, end in _parts(self.text, first, last):
                own = read[bisect_left(places, start) : bisect_left(places, end)]
                rows = tuple(row for row in self.rows if row.start <= start < row.end)
                names = (heads[row.names] for row in rows)
                in_rows = [_scale_figure(token, rows) for token in own] if rows else own
                piece = Piece(start, end, (*in_rows, *chain.from_iterable(names)), rows)
                found.append(self._without_denied_cells(piece, len(in_rows)) if len(rows) == 1 else piece)
            if len(found) >= _MAX_PIECES:
                break
        return tuple(found[:_MAX_PIECES])

    def _without_denied_cells(self, piece: Piece, own: int) -> Piece:
        """Return a row without cells that are only "no"; `own` counts its tokens before the names of the columns."""
        (row,) = piece.rows
        cells = denied_cells(self.text, row, self.language)
        if not cells:
            return piece
        columns = [tokens(name, self.language) for name in row.names]
        stems = [frozenset(chain.from_iterable(token.terms for token in column)) for column in columns]
        others = [at for at in range(1, len(columns)) if at not in cells]
        other_tokens = chain.from_iterable([*tokens(row.cells[at], self.language), *columns[at]] for at in others)
        left = [
            token for token in piece.tokens[:own] if not any(first < token.start < end for first, end in cells.values())
        ]
        return replace(
            piece,
            tokens=(*left, *piece.tokens[own:]),
            denied=tuple(stems[at].difference(*(stems[other] for other in others)) for at in cells),
            other_tokens=tuple(other_tokens),
        )

    @cached_property
    def statements(self) -> tuple[Piece, ...]:
        """Its sentences, also split at semicolons, and its rows."""
        return tuple(chain.from_iterable(map(self._at_semicolons, self.sentences)))

    def _at_semicolons(self, piece: Piece) -> Iterator[Piece]:
        cuts = [match.end() for match in _SEMICOLON.finditer(self.text, piece.start, piece.end)]
        if piece.rows or not cuts:
            yield piece
            return
        for start, end in pairwise([piece.start, *cuts, piece.end]):
            yield Piece(start, end, tuple(token for token in piece.tokens if start <= token.start < end))

    @cached_property
    def candidates(self) -> tuple[tuple[int, int, Piece], ...]:
        """Each sentence, and each pair of sentences, with the places of its first and last sentence."""
        pairs = [
            (
                at,
                at + 1,
                Piece(self._shown_from(one, other), other.end, (*one.tokens, *other.tokens), first=len(one.tokens)),
            )
            for at, (one, other) in enumerate(pairwise(self.sentences))
            if one.end < other.end <= one.start + LONGEST and not (one.rows or other.rows)
        ]
        # The head of a table proves nothing: "Cox needed" holds only for some rows.
        alone = ((at, at, piece) for at, piece in enumerate(self.sentences) if piece.start not in self._heads)
        return (*alone, *pairs)

    def _shown_from(self, one: Piece, other: Piece) -> int:
        # The head of a mail is compared with the claim, but not shown as evidence.
        return other.start if _MAIL_HEAD.fullmatch(self.text, one.start, one.end) else one.start

    @cached_property
    def _heads(self) -> frozenset[int]:
        return frozenset(
            one.start
            for one, other in pairwise(self.sentences)
            if other.rows and other.rows[0].names and not one.rows and self.text[one.start] == "|"
        )

    def around(self, span: tuple[int, int]) -> tuple[int, int]:
        """Return the sentences around a span, or the span itself if they are too long to show."""
        touched = [piece for piece in self.sentences if piece.start < span[1] and span[0] < piece.end]
        start, end = min([span[0], *(p.start for p in touched)]), max([span[1], *(p.end for p in touched)])
        return (start, end) if end - start <= LONGEST else (span[0], min(span[1], span[0] + LONGEST))


def lookup_keys(token: Token) -> list[str]:
    """Return the keys of a word: its stems, or the first digit of a number, so that rounded numbers are found."""
    if token.number:
        return [f"{token.kind} {token.number}"]
    if token.figure is None:
        return list(token.terms)
    return [f"# {value[:1]}" for value in token.figure.scaled] + list(token.terms)


def _scale_figure(token: Token, rows: Sequence[TableRow]) -> Token:
    """Give a number of a table the unit and scale in the name of its row, such as "Revenue ($ million)"."""
    if token.figure is None or not any(rows):
        return token
    named = rows[0].cells[0] if rows[0].cells else ""
    return token._replace(figure=in_terms_of(token.figure, named))


def _split_rows(passage: str, rows: Sequence[TableRow]) -> Iterator[tuple[int, int]]:
    """Yield the sentences and list items of a passage, and its tables row by row."""
    cuts = {place for row in rows for place in (row.start, row.end)}
    cuts |= {match.end() for match in _ITEM.finditer(passage)}
    for start, end in running_spans(passage):
        yield from pairwise([start, *sorted(place for place in cuts if start < place < end), end])


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence without surrounding blanks, a very long one in overlapping parts."""
    piece = text[start:end]
    start, end = start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
    while end - start > LONGEST:
        cut = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
        yield start, cut if cut > 0 else start + LONGEST
        # Overlapping by half, so that the words of a claim are together in one of the parts.
        half = text.find(" ", start + LONGEST // 2, max(cut, 0))
        start = half + 1 if half > 0 else start + LONGEST // 2
    if end > start:
        yield start, end
