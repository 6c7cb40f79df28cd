"""No pattern that is tried on what a document says takes time that grows with the square of it.

A file is a hundred megabytes at most, and some are read by the process that serves everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from anabranch.errors import ReadingError
from anabranch.ingestion.isolation.read_and_chunk import read_and_chunk
from anabranch.readers import dehyphenation
from anabranch_readers import code
from anabranch_readers.pdf_layout import headers_footers, line_numbers
from tests.hostile_texts import ATOMS, ATOMS_OF_FORMATS, repeated
from tests.text.repeated_atoms import LENGTH, patterns, spent_on

PATTERNS = patterns(
    "anabranch.chunking", "anabranch.ingestion", "anabranch.readers", "anabranch_readers", "anabranch_sources"
)
SECONDS = 0.5
"""Of processor time, for two texts: a pattern of linear growth takes some thousandths of one."""

SHORT = {
    "anabranch_readers.code": code._LONGEST_LINE,
    "anabranch.readers.dehyphenation._BREAK": dehyphenation._LONGEST_WORD,
    "anabranch_readers.pdf_layout.line_numbers._ENTRY": line_numbers._LONGEST_END,
    "anabranch_readers.pdf_layout.headers_footers._NUMBER": headers_footers._LONGEST_NUMBER,
}
"""Patterns that see no more than so many characters, by module or name."""


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_take_time_that_grows_with_the_text(name: str) -> None:
    length = next((most for short, most in SHORT.items() if f"{name}.".startswith(f"{short}.")), LENGTH)
    for atom in ATOMS:
        seconds = spent_on(partial(PATTERNS[name], repeated(atom, length)), SECONDS)
        assert seconds < SECONDS, f"{atom!r} behind one another: {seconds:.2f} s"


def test_there_are_patterns() -> None:
    assert len(PATTERNS) > 100
    assert {name for name in SHORT if name != "anabranch_readers.code"} <= set(PATTERNS)


HERE = {
    "note.md": "{}",
    "facts.md": "---\n{}\n---\nText.\n",
    "broken.md": "---\nx: : :\n{}\n---\nText.\n",
    "note.txt": "{}",
}
"""What the process that ingests, on a server the one that serves, reads by itself where it is short."""


@pytest.mark.parametrize("name", HERE)
def test_short_files_take_time_that_grows_with_the_text(tmp_path: Path, name: str) -> None:
    (path := tmp_path / name).touch()
    for atom in ATOMS_OF_FORMATS:
        path.write_text(HERE[name].replace("{}", repeated(atom, LENGTH)), encoding="utf-8", newline="")
        seconds = spent_on(partial(read_whole, path), 2 * SECONDS)
        assert seconds < 2 * SECONDS, f"{atom!r} behind one another: {seconds:.2f} s"


def read_whole(path: Path) -> None:
    with suppress(ReadingError):
        for _ in read_and_chunk(path, path.name, tokens=Quarters()):
            pass


class Quarters:
    """Counts every four letters as a token."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 4 + 1 for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [(at, at + 4) for at in range(0, len(text), 4)]
