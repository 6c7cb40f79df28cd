"""Chooses the answer where no model writes one: the best passages of the search, whole.

The search finds the right passage more reliably than any rule could find the right sentence in it, so passages stay
whole: a leaf for itself, or the passage that it was merged into, whose next lines may be the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from anabranch.extracts.passage_layout import piece_spans, trim_span
from anabranch.text.normalization import squeeze
from anabranch.types import Chunk

MOST_SHOWN = 5
# Most characters of all passages that are shown, about one screen and a half.
MOST_CHARS = 2_500


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """The part of a leaf or of a merged passage that is shown: the characters [start, end) of its document.

    `leaves` are those of a merged passage that were found, which have headings of their own.
    """

    chunk: Chunk
    start: int
    end: int
    leaves: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage that is shown.

    Attributes:
        number: Its marker, from 1.
        spans: What it is made of, in reading order; each begins where the previous one ends.
        text: Their text.
        best: The piece [start, end) of `text` that fits the question best; empty if none does.
    """

    number: int
    spans: tuple[ChunkSpan, ...]
    text: str
    best: tuple[int, int] = (0, 0)

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """The spans of its sentences, rows and blocks of code, without titles."""
        return spans_without_titles(self.text, [chunk for span in self.spans for chunk in (span.chunk, *span.leaves)])

    @property
    def best_span(self) -> ChunkSpan:
        """The span with the best piece."""
        at = self.spans[0].start + self.best[0]
        return next((span for span in self.spans if at < span.end), self.spans[-1])

    def best_from(self, start: int, end: int) -> int:
        """Return where in the document the best piece begins; `start` if that is not within [start, end)."""
        at = self.spans[0].start + self.best[0]
        return at if start <= at < end else start

    def with_best(self, best: tuple[int, int]) -> ShownPassage:
        """Return the passage with its best piece set."""
        return replace(self, best=best)


def best_passages(
    leaves: Sequence[Chunk], merged: Mapping[str, Chunk] = MappingProxyType({}), first: int = 1
) -> list[ShownPassage]:
    """Return the first passages that fit, joining those that touch in a document.

    Args:
        leaves: Best first.
        merged: The passage that a leaf was merged into, by the leaf's id; shown in the leaf's place where it fits.
        first: The number of the first passage.

    Returns:
        At most `MOST_SHOWN`, of at most `MOST_CHARS` characters: what does not fit is skipped; if the first leaf is too
        long, it is cut.
    """
    ranked = list(_take_fitting(leaves, merged))
    ranks = {each.chunk.chunk_id: rank for rank, each in enumerate(ranked)}
    runs = _runs(sorted(ranked, key=lambda each: (each.chunk.doc_id, each.start)))
    # Put the passage with the best leaf first.
    runs.sort(key=lambda run: min(ranks[each.chunk.chunk_id] for each in run))
    return [
        ShownPassage(number, tuple(run), "".join(_text(each) for each in run)) for number, run in enumerate(runs, first)
    ]


def _take_fitting(leaves: Sequence[Chunk], merged: Mapping[str, Chunk]) -> Iterator[ChunkSpan]:
    room, taken = MOST_CHARS, set[str]()
    for leaf in leaves:
        if len(taken) == MOST_SHOWN:
            return
        whole = merged.get(leaf.chunk_id, leaf)
        if whole.chunk_id in taken:
            continue
        chunk = whole if len(whole.text) <= room else leaf
        start, end = trim_span(chunk.text, 0, min(len(chunk.text), MOST_CHARS))
        # Include the blanks at its end, which are shown if the next leaf follows.
        size = min(len(chunk.text), MOST_CHARS)
        if start < end and size <= room:
            found = tuple(each for each in leaves if merged.get(each.chunk_id) is chunk)
            yield ChunkSpan(chunk, chunk.start + start, chunk.start + end, found)
            taken.add(chunk.chunk_id)
            room -= size


def _runs(spans: Sequence[ChunkSpan]) -> list[list[ChunkSpan]]:
    """Join spans that touch, with the blanks between them."""
    runs: list[list[ChunkSpan]] = []
    for each in spans:
        last = runs[-1][-1] if runs else None
        if last and last.chunk.doc_id == each.chunk.doc_id and last.chunk.end == each.chunk.start:
            runs[-1][-1] = replace(last, end=last.chunk.end)
            runs[-1].append(replace(each, start=each.chunk.start))
        else:
            runs.append([each])
    return runs


def _text(span: ChunkSpan) -> str:
    return span.chunk.text[span.start - span.chunk.start : span.end - span.chunk.start]


def lines_of(chunk: Chunk) -> list[str]:
    """Return the sentences, rows and blocks of code of a leaf, one line each; its whole text if it has none."""
    spans = spans_without_titles(chunk.text, [chunk])
    return [squeeze(chunk.text[start:end]) for start, end in spans] or [squeeze(chunk.text)]


def spans_without_titles(text: str, chunks: Sequence[Chunk]) -> list[tuple[int, int]]:
    """Return the spans of the pieces of a text, without the titles of its chunks."""
    # A title on its own line shares words with a question but answers nothing.
    titles = {title for chunk in chunks for title in (chunk.title, *chunk.heading.split(" > "))}
    return [(start, end) for start, end in piece_spans(text) if squeeze(text[start:end]) not in titles]


def shared_weight(weights: Mapping[str, float], terms: Sequence[str]) -> float:
    """Return the share of a question's words that a piece has, weighted by how rare they are.

    Args:
        weights: The question's analysed terms, each with its idf.
        terms: The analysed terms of the piece.
    """
    total = sum(weights.values())
    return sum(weights[term] for term in weights.keys() & {*terms}) / total if total else 0.0
