"""Tells whether an answer that was drafted early stands on the evidence that was found in the end.

To draft an answer from what the question alone finds, while further queries are still being written, is speculation in
the sense of processors (Speculative RAG, 2407.08223, speculates on drafts by several models): done early, it saves the
wait where it was right, and is thrown away where it was not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from anabranch.claims import Marker, markers
from anabranch.quotes import find_quote

SAME = 0.9
"""Share of the final evidence that the draft must have read. docs/adr/0011-speculation.md has what was measured."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shown:
    """A numbered piece of a document, as a model is shown it.

    Attributes:
        number: What it is cited by.
        doc_id: Its document.
        start: First character in the document's text.
        end: One past the last character.
        text: The characters in [start, end).
        weight: How much it counts as evidence, at least 0.
    """

    number: int
    doc_id: str
    start: int
    end: int
    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a draft is kept.

    Attributes:
        why: What speaks against it, for people; empty where it is kept.
        share: Share of the final evidence that it has read.
        numbers: By the number that the draft cites, the number that the final evidence has for it.
    """

    why: str
    share: float
    numbers: Mapping[int, int] = field(default_factory=dict)


def share_read(final: Sequence[Shown], read: Sequence[Shown]) -> float:
    """Return the share of the final evidence that was read, from 0 to 1: characters, by the weight of their piece.

    Pieces need not be cut alike: a passage counts as read where the leaves that it stands for were.
    """
    weighed = [(piece, piece.weight) for piece in final] if any(piece.weight > 0 for piece in final) else []
    weighed = weighed or [(piece, 1.0) for piece in final]
    covers = _spans_of(read)
    total = sum(weight for _, weight in weighed)
    share = sum(weight * _covered(piece, covers.get(piece.doc_id, ())) for piece, weight in weighed)
    return min(share / total, 1.0) if total else 0.0


def judge_draft(
    answer: str,
    quotes: Mapping[int, Sequence[str]],
    read: Sequence[Shown],
    final: Sequence[Shown],
    *,
    threshold: float = SAME,
) -> Verdict:
    """Judge whether a draft may stand for an answer from the final evidence.

    It may where all that it cites is there as well (the words of each verified quote; where it quotes nothing, the
    whole piece), and where there is little that it has not read.

    Args:
        answer: The draft, with markers by the numbers of `read`.
        quotes: By number, the words that it says it copied.
        read: What it was written from.
        final: What was found in the end.
        threshold: Share of the final evidence that it must have read.
    """
    share = share_read(final, read)
    cited = [number for marker in markers(answer) for number in marker.numbers]
    if not cited:
        return Verdict("it cites nothing", share)
    shown = {piece.number: piece for piece in read}
    numbers: dict[int, int] = {}
    for number in dict.fromkeys(cited):
        if number not in shown:
            return Verdict(f"it cites [{number}], which it was not shown", share)
        place = _place(shown[number], quotes.get(number, ()), final)
        if place is None:
            return Verdict(f"what it cites as [{number}] is not in the final evidence", share)
        numbers[number] = place
    if share < threshold:
        return Verdict(f"it read {share:.2f} of the final evidence; {threshold:g} is the least", share)
    return Verdict("", share, numbers)


def renumbered(answer: str, numbers: Mapping[int, int]) -> str:
    """Return an answer with each marker's numbers replaced, all at once; numbers that are not given stay."""
    parts, at = [], 0
    for marker in markers(answer):
        parts += [answer[at : marker.start], _rewritten(answer, marker, numbers)]
        at = marker.end
    return "".join([*parts, answer[at:]])


def merged_quotes(quotes: Mapping[int, Sequence[str]], numbers: Mapping[int, int]) -> dict[int, list[str]]:
    """Return the quotes by their new numbers; those of numbers that are not given are left out."""
    merged: dict[int, list[str]] = {}
    for number, words in quotes.items():
        if number in numbers:
            merged.setdefault(numbers[number], []).extend(words)
    return merged


def _rewritten(answer: str, marker: Marker, numbers: Mapping[int, int]) -> str:
    if not marker.numbers:
        return answer[marker.start : marker.end]
    return "".join(f"[{number}]" for number in dict.fromkeys(numbers.get(each, each) for each in marker.numbers))


def _place(piece: Shown, quotes: Sequence[str], final: Sequence[Shown]) -> int | None:
    """Return the number of the final piece that holds what is cited of a piece, the one with most of it if several."""
    found = [span for quote in quotes if (span := find_quote(quote, piece.text))]
    start = piece.start + min((span[0] for span in found), default=0)
    end = piece.start + max((span[1] for span in found), default=piece.end - piece.start)
    holding = [each for each in final if each.doc_id == piece.doc_id and each.start <= start and end <= each.end]
    return max(holding, key=lambda each: _overlap(each, (piece.start, piece.end))).number if holding else None


def _spans_of(pieces: Iterable[Shown]) -> dict[str, list[Span]]:
    """Return what pieces cover of each document, as spans that do not overlap, in order."""
    spans: dict[str, list[Span]] = {}
    for piece in sorted(pieces, key=lambda piece: (piece.start, piece.end)):
        known = spans.setdefault(piece.doc_id, [])
        if known and piece.start <= known[-1][1]:
            known[-1] = (known[-1][0], max(known[-1][1], piece.end))
        else:
            known.append((piece.start, piece.end))
    return spans


def _covered(piece: Shown, spans: Iterable[Span]) -> float:
    length = piece.end - piece.start
    return sum(_overlap(piece, span) for span in spans) / length if length > 0 else 0.0


def _overlap(piece: Shown, span: Span) -> int:
    return max(min(piece.end, span[1]) - max(piece.start, span[0]), 0)
