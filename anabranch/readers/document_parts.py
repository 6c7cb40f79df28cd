"""What readers share to make documents: long ones in parts, and notes on what was left out of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from anabranch.errors import ReadingError
from anabranch.readers.document import Block, Document, HeadingPath, titles, with_heading
from anabranch.text.normalization import squeeze

# A document is held in memory and handed over whole, so that a long table or log comes in parts.
MOST_CHARACTERS = 1_000_000


class LeftOut(Counter[str]):
    """Counts what a reader leaves out, by what a person is told of it, such as "hidden slides were left out ({})"."""

    def notes(self) -> tuple[str, ...]:
        """Return the notes of a document, in the order in which things were first left out."""
        return tuple(said.format(count) for said, count in self.items() if count)


class Sections:
    """Makes blocks of titles and texts as they come, each under the headings that are open."""

    def __init__(self) -> None:
        """Start above the first heading."""
        self.path: HeadingPath = ()

    def title(self, level: int, text: str) -> Block:
        """Open a heading of a level (1 is the highest), and return it."""
        said = squeeze(text)
        self.path = with_heading(self.path, level, said)
        return Block(said, None, titles(self.path), is_heading=True)

    def text(self, text: str) -> Block:
        """Return a text under the headings that are open."""
        return Block(text, None, titles(self.path))


def squeezed_lines(text: str) -> str:
    """Return a text without the empty ones of its lines, and without the white space that no line shows."""
    return "\n".join(line for line in map(squeeze, text.split("\n")) if line)


def under_name(name: str, texts: Iterable[str]) -> Iterator[Block]:
    """Yield the name of a sheet as a heading, and what is on it."""
    heading = (name,) if name else ()
    for at, text in enumerate(texts):
        # With the first text and not before: a sheet with nothing on it has no heading either.
        if name and at == 0:
            yield Block(name, None, heading, is_heading=True)
        yield Block(text, None, heading)


def one_document(
    source: str,
    path: Path,
    blocks: Iterable[Block],
    facts: Mapping[str, Any],
    title: str = "",
    notes: Iterable[str] = (),
    hint: str = "",
) -> Document:
    """Return the one document of a file.

    Args:
        source: What a person calls the file.
        path: The file.
        blocks: What it shows.
        facts: Its metadata; those that are empty are left out.
        title: That it declares; without one, it is the first heading, else the file's name.
        notes: Asked for when all blocks have been taken.
        hint: What to do with a file that shows nothing.

    Raises:
        ReadingError: `empty` when there are no blocks.
    """
    shown = tuple(blocks)
    if not shown:
        raise ReadingError(f"{source!r} shows no text.", reason="empty", hint=hint)
    title = title or next((block.text for block in shown if block.is_heading), path.stem)
    metadata = {name: value for name, value in facts.items() if value}
    return Document(source, title, shown, metadata, key=source, notes=tuple(notes))


def in_parts(blocks: Iterable[Block], whole: Document, notes: Callable[[], Iterable[str]]) -> Iterator[Document]:
    """Yield `whole` with these blocks, or its parts of about a million characters where it would be longer.

    Args:
        blocks: Taken one at a time, so that only one part is in memory.
        whole: The document without its blocks.
        notes: Asked when all blocks have been taken; the notes go with the last part.

    Parts are called `source#part-1` and so on. They end between blocks and only where they are full, so that rows that
    are added at the end change the last part alone.

    Raises:
        ReadingError: `empty` when there are no blocks.
    """
    number, waiting = 0, tuple[Block, ...]()
    for part in _filled(blocks):
        # One part behind: only when the next one comes is it known that there are several.
        if waiting:
            number += 1
            yield _numbered(whole, number, waiting)
        waiting = part
    if waiting:
        last = _numbered(whole, number + 1, waiting) if number else replace(whole, blocks=waiting)
        yield replace(last, notes=(*whole.notes, *notes()))
    else:
        raise ReadingError(f"{whole.source!r} shows no text.", reason="empty")


def _filled(blocks: Iterable[Block]) -> Iterator[tuple[Block, ...]]:
    part: list[Block] = []
    characters = 0
    for block in blocks:
        part.append(block)
        characters += len(block.text)
        if characters >= MOST_CHARACTERS:
            yield tuple(part)
            part, characters = [], 0
    if part:
        yield tuple(part)


def _numbered(whole: Document, number: int, blocks: tuple[Block, ...]) -> Document:
    source = f"{whole.source}#part-{number}"
    return replace(whole, source=source, key=source, title=f"{whole.title}, part {number}", blocks=blocks, notes=())
