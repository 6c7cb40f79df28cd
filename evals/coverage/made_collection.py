"""Collections whose hits are known, because they are made: logs of units, of which some leaked."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

SIZES = (10, 12, 15, 18, 22, 27, 33, 40, 50, 60, 75, 90, 110, 135, 165, 200, 250, 310, 390, 500)
"""Hits of each collection."""

QUESTION = "Which units leaked? List all of them, and say how many there are."

HIT = re.compile(r"(?:Unit|unit) (U-\d{4}) (?:leaked|lost oil) [^.|\n]*")
"""What the scripted reader takes for a hit: in all of its forms, and in no look-alike."""

_HITS = (
    "Unit {unit} leaked at the flange and was shut down by the night shift.",
    "In the morning it was found that unit {unit} lost oil through its seal.",
    "| {unit} | Unit {unit} leaked near the valve | closed |",
)
_ALIKE = (
    "Unit {unit} was tested for leaks, and none was found.",
    "A leak of unit {unit} was suspected, but the stain was rain water.",
    "The crew practised what to do if unit {unit} should leak.",
    "Unit {unit} was filled with oil, as planned.",
    "| {unit} | no leak | open |",
)
_AGAIN = "The report of last week repeats that unit {unit} leaked at the flange, which is known."
_REPEATED = 0.15
"""Share of hits that a second document tells as well: they are the same hit."""


@dataclass(frozen=True, slots=True)
class HitCollection:
    """Documents by name, and the names of their hits."""

    documents: dict[str, str]
    hits: frozenset[str]
    places: int


def make_collection(number: int) -> HitCollection:
    """Return one of the collections, the same each time: look-alikes are half as many again as hits."""
    draw = random.Random(number)  # noqa: S311  # documents, and no secrets
    count = SIZES[number]
    units = [f"U-{each:04d}" for each in draw.sample(range(10_000), count + count * 3 // 2)]
    hits = units[:count]
    entries = [draw.choice(_HITS).format(unit=unit) for unit in hits]
    entries += [draw.choice(_ALIKE).format(unit=unit) for unit in units[count:]]
    repeated = draw.sample(hits, round(_REPEATED * count))
    entries += [_AGAIN.format(unit=unit) for unit in repeated]
    draw.shuffle(entries)
    parts = 3 + number
    documents = {f"log {part + 1}.md": _write(draw, part, entries[part::parts]) for part in range(parts)}
    return HitCollection(documents, frozenset(hits), count + len(repeated))


def _write(draw: random.Random, part: int, entries: list[str]) -> str:
    """Return a log: half of the documents have a heading for each entry, the others run on."""
    has_headings = draw.random() < 0.5
    return "".join([f"# Log {part + 1}\n\n", *_entries(entries, has_headings=has_headings)])


def _entries(entries: list[str], *, has_headings: bool) -> Iterator[str]:
    for number, entry in enumerate(entries, start=1):
        head = f"## Entry {number}\n\n" if has_headings else ""
        # A row needs the head of its table to be read as one.
        table = "| unit | what | state |\n|---|---|---|\n" if entry.startswith("|") else ""
        yield f"{head}{table}{entry}\n\n"
