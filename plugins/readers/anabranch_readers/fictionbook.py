"""Read FictionBook 2 (.fb2): its sections under their titles, verse line by line, notes last as the file has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.document_parts import Sections, one_document
from anabranch.readers.inert_xml import Element, local_name, parse_xml
from anabranch.readers.size_limit import MOST_PARSED_BYTES, limited
from anabranch.readers.table_blocks import table_parts
from anabranch.text.normalization import clean, squeeze

# Pictures, as base64: a parser that bounds the length of a text would refuse the book for its cover.
_PICTURES = re.compile(rb"<(?:\w+:)?binary\b.*?</(?:\w+:)?binary>", re.DOTALL)
_LINES = frozenset({"p", "v", "subtitle", "text-author", "date"})
_UNSEEN = frozenset({"title", "image", "stylesheet"})


@limited(MOST_PARSED_BYTES)
def read_fb2(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a book.

    Raises:
        ReadingError: `broken` when it is no XML, or none of a book; `empty`.
    """
    root = parse_xml(_PICTURES.sub(b"", path.read_bytes()))
    if local_name(root) != "FictionBook":
        raise ReadingError(f"{source!r} is no FictionBook.", reason="broken", hint="Check the file's extension.")
    about = root.find("{*}description/{*}title-info")
    facts = {"format": "fb2", "author": ", ".join(_authors(about)), "language": _text_of(about, "lang")}
    yield one_document(source, path, _blocks(root), facts, _text_of(about, "book-title") or path.stem)


def _text_of(about: Element | None, name: str) -> str:
    return squeeze(about.findtext(f"{{*}}{name}") or "") if about is not None else ""


def _authors(about: Element | None) -> Iterator[str]:
    for author in about.iterfind("{*}author") if about is not None else ():
        names = [author.findtext(f"{{*}}{part}-name") or "" for part in ("first", "middle", "last")]
        if any(names):
            yield squeeze(" ".join(names))


def _blocks(root: Element) -> Iterator[Block]:
    sections = Sections()
    for body in root.iterfind("{*}body"):
        yield from _walk(body, sections, 0)


def _walk(parent: Element, sections: Sections, level: int) -> Iterator[Block]:
    heading = parent.find("{*}title")
    if heading is not None and (title := squeeze(" ".join(heading.itertext()))):
        yield sections.title(level + 1, title)
    for child in parent:
        name = local_name(child)
        if name == "stanza":
            yield sections.text("\n".join(squeeze("".join(line.itertext())) for line in child))
        elif name == "table":
            rows = [[squeeze("".join(cell.itertext())) for cell in row] for row in child.iterfind("{*}tr")]
            yield from map(sections.text, table_parts(rows))
        elif name in _LINES:
            text = squeeze(clean("".join(child.itertext())))
            yield from [sections.text(text)] if text else []
        elif name not in _UNSEEN:
            yield from _walk(child, sections, level + (name == "section"))
