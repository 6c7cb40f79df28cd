"""Read source code and configuration: kept as it stands, in one block for each definition, under its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from anabranch.errors import ReadingError
from anabranch.readers.code_languages import LANGUAGES
from anabranch.readers.code_symbols import definitions
from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.document_parts import in_parts
from anabranch.readers.encoding import decode
from anabranch.readers.titles import Open, titles, under
from anabranch.text.normalization import clean_counted


def read_code(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the document of a source file, or its parts where it is long; its title is its path.

    Indents and tabs stay. Invisible and bidirectional control characters go, which can make code read otherwise than
    it runs, and are counted.

    Raises:
        ReadingError: `empty`, `broken` (binary data), `encoding`.
    """
    text, notes = decode(path.read_bytes(), source)
    text, hidden = clean_counted(text)
    if hidden:
        notes = (*notes, f"invisible characters were removed ({hidden})")
    if not text.strip():
        raise ReadingError(f"{source!r} holds no text.", reason="empty")
    language = LANGUAGES[path.suffix.lower()]
    metadata = {"format": "code", "language": language}
    whole = Document(source, source, (), metadata, key=source, notes=notes)
    yield from in_parts(_blocks(text.split("\n"), language), whole, tuple)


def _blocks(lines: Sequence[str], language: str) -> Iterator[Block]:
    marks = {definition.line: definition for definition in definitions(lines, language)}
    path: Open = ()
    for first, last in pairwise(sorted({0, *marks, len(lines)})):
        mark = marks.get(first)
        if mark is not None:
            path = under(path, mark.depth, mark.name)[: None if mark.name else -1]
        text = "\n".join(lines[first:last]).strip("\n")
        if text.strip():
            yield Block(text, None, titles(path))
