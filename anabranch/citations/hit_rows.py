"""Checks, joins and counts the hits that a model listed: each needs words that stand in a passage."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from anabranch.citations.citation_record import CitationRecord
from anabranch.citations.quote_matching import Folded, fold, locate
from anabranch.parsing.row_list import ListedHit
from anabranch.text.analyzer import analyser

MOST_PLACES = 5_000
"""Most places of hits that are kept; the count of those beyond is said."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """A piece of a passage as the model saw it: the id of the chunk, and its text."""

    chunk_id: str
    text: str


@dataclass(frozen=True, slots=True)
class HitRows:
    """The hits of all windows.

    Attributes:
        records: A record for each place of a hit; the places of one row share its marker.
        unconfirmed: Hits whose words stand in no passage of their window.
        rows: Number of rows: hits of different names.
        beyond: Places that were left out, because there are too many.
    """

    records: tuple[CitationRecord, ...]
    unconfirmed: tuple[ListedHit, ...]
    rows: int
    beyond: int = 0


def collect_rows(
    windows: Iterable[tuple[Iterable[ListedHit], Sequence[int]]], passages: Mapping[int, NumberedPassage]
) -> HitRows:
    """Return the rows of all windows; hits with the same name are one row, and a place that was listed before is none.

    Args:
        windows: The hits that the model listed of each window, and the numbers of the window's passages.
        passages: The passages by number.
    """
    records: list[CitationRecord] = []
    unconfirmed: dict[str, ListedHit] = {}
    markers: dict[str, int] = {}
    known: set[tuple[int, str, int]] = set()
    beyond = 0
    for hits, numbers in windows:
        # Folded for one window at a time, so that a large corpus need not fit into the memory.
        folded: dict[int, Folded] = {}
        for hit in hits:
            name = fold_name(hit.item)
            place = next(_places(hit, numbers, passages, folded), None)
            if place is None:
                unconfirmed.setdefault(name, hit)
                continue
            number, start, end = place
            if (number, name, start) in known:
                continue
            if len(records) >= MOST_PLACES:
                beyond += 1
                continue
            known.add((number, name, start))
            marker = markers.setdefault(name, len(markers) + 1)
            passage = passages[number]
            quote = passage.text[start:end]
            records.append(
                CitationRecord(marker, number, passage.chunk_id, hit.item, "quoted", quote, start=start, end=end)
            )
    # A hit that was confirmed elsewhere needs no second mention.
    left = tuple(hit for name, hit in unconfirmed.items() if name not in markers)
    return HitRows(tuple(records), left, len(markers), beyond)


def fold_name(item: str) -> str:
    """Return the words of a name in comparable form; hits with equal ones are the same."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", item).casefold())) or item


def _places(
    hit: ListedHit, numbers: Sequence[int], passages: Mapping[int, NumberedPassage], folded: dict[int, Folded]
) -> Iterator[tuple[int, int, int]]:
    """Yield where the words of a hit stand: in its passage, or in another one of its window."""
    if not analyser().terms(hit.words):
        return
    # A wrong number beside the right words is a slip that the words put right.
    for number in (hit.number, *(each for each in numbers if each != hit.number)):
        if number not in passages or number not in numbers:
            continue
        if number not in folded:
            folded[number] = fold(passages[number].text)
        if (span := locate(hit.words, folded[number])) is not None:
            yield number, *span
