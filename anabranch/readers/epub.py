"""Read an e-book (EPUB 2 and 3): its chapters in reading order, headings from them and from the table of contents."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.epub_toc import Entry, entries_of_nav, entries_of_ncx, place, set_headings
from anabranch.readers.html import page_blocks, parse_html
from anabranch.readers.titles import Open, declared
from anabranch.readers.visible_dom import Visible
from anabranch.readers.zip_container import Archive, Element, Kind, local, opened, protected
from anabranch.text.normalization import squeeze

_KIND = Kind("e-book in EPUB format")
_LONGEST_CHAPTER = 1 << 25  # a parsed page takes some thirty times its size
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def read_epub(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of an e-book.

    Raises:
        ReadingError: `encrypted` (copy protection), `broken`, `too_large`, `empty`.
    """
    with opened(path, source, _KIND) as archive:
        book = _Book(archive, source)
        blocks = tuple(book.blocks())
    if not blocks:
        raise ReadingError(f"{source!r} shows no text.", reason="empty", hint="Its pages may be pictures.")
    facts = {
        "format": "epub",
        "author": ", ".join(book.said("creator")),
        "language": "".join(book.said("language")[:1]),
    }
    metadata = {name: value for name, value in facts.items() if value}
    title = declared(next(iter(book.said("title")), "")) or path.stem
    yield Document(source, title, blocks, metadata, key=source, notes=tuple(book.notes()))


class _Book:
    """The chapters of one book; counts what is left out."""

    def __init__(self, archive: Archive, source: str) -> None:
        self._archive = archive
        self._source = source
        main = _main_part(archive, source)
        self._folder = posixpath.dirname(main)
        self._root = archive.xml(main)
        self._visible = Visible()
        self._missing = 0

    def said(self, name: str) -> list[str]:
        """Return what the book says of itself under a name of the Dublin Core."""
        holder = self._root.find("{*}metadata")
        elements = [] if holder is None else [element for element in holder.iter() if local(element) == name]
        return [text for text in (squeeze(element.text or "") for element in elements) if text]

    def blocks(self) -> Iterator[Block]:
        items = {item.get("id", ""): item for item in self._root.iterfind("{*}manifest/{*}item")}
        spine = [items.get(each.get("idref", "")) for each in self._root.iterfind("{*}spine/{*}itemref")]
        chapters = [self._part(item) for item in spine if item is not None and "html" in item.get("media-type", "")]
        self._missing = sum(chapter not in self._archive.names for chapter in chapters) + spine.count(None)
        self._refuse_protected(chapters)
        entries = self._entries(list(items.values()))
        path: Open = ()
        for chapter in dict.fromkeys(chapters):
            if chapter in self._archive.names:
                soup = parse_html(self._archive.read(chapter, _LONGEST_CHAPTER), self._source)
                if soup.get_text(strip=True):
                    set_headings(soup, [entry for entry in entries if entry.part == chapter])
                    blocks, path = page_blocks(soup, self._visible, path)
                    yield from blocks

    def notes(self) -> Iterator[str]:
        if self._missing:
            yield f"chapters are missing from the file ({self._missing})"
        if self._visible.hidden:
            yield f"hidden text was left out ({self._visible.hidden} characters)"

    def _part(self, item: Element) -> str:
        return place(self._folder, item.get("href", ""))[0]

    def _entries(self, items: Sequence[Element]) -> list[Entry]:
        for item in items:
            part = self._part(item)
            if "nav" in item.get("properties", "").split() and part in self._archive.names:
                soup = parse_html(self._archive.read(part, _LONGEST_CHAPTER), self._source)
                entries = entries_of_nav(soup, posixpath.dirname(part))
                if entries:
                    return entries
        for item in items:
            part = self._part(item)
            if item.get("media-type") == "application/x-dtbncx+xml" and part in self._archive.names:
                return entries_of_ncx(self._archive.xml(part), posixpath.dirname(part))
        return []

    def _refuse_protected(self, chapters: Sequence[str]) -> None:
        """Refuse a book whose chapters are encrypted; one that only disguises its fonts can be read."""
        if "META-INF/encryption.xml" not in self._archive.names:
            return
        for data in self._archive.xml("META-INF/encryption.xml").iter("{*}EncryptedData"):
            method, reference = data.find("{*}EncryptionMethod"), data.find(".//{*}CipherReference")
            algorithm = method.get("Algorithm", "") if method is not None else ""
            part = place("", reference.get("URI", ""))[0] if reference is not None else ""
            if algorithm not in _FONTS_ONLY and part in chapters:
                raise protected(self._source)


def _main_part(archive: Archive, source: str) -> str:
    if "META-INF/container.xml" in archive.names:
        for element in archive.xml("META-INF/container.xml").iter("{*}rootfile"):
            part = element.get("full-path", "")
            if part in archive.names:
                return str(part)
    part = min((name for name in archive.names if name.endswith(".opf")), default="")
    if not part:
        raise ReadingError(f"{source!r} is no {_KIND.name}.", reason="broken", hint="Check the file's extension.")
    return part
