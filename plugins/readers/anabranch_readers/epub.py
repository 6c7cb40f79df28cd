"""Read an e-book (EPUB 2 and 3): its chapters in reading order, headings from them and from the table of contents."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Block, Document, HeadingPath, ReadOptions, declared_title
from anabranch.readers.document_parts import one_document
from anabranch.readers.html import page_blocks, parse_html
from anabranch.readers.inert_xml import Element, local_name
from anabranch.readers.office_password import password_error
from anabranch.readers.visible_nodes import BLOCKS, Visible
from anabranch.text.normalization import squeeze
from anabranch_readers.zip_container import COPY_HINT, Archive, ZipFormat, open_archive

_KIND = ZipFormat("e-book in EPUB format")
_LONGEST_CHAPTER = 1 << 25  # a parsed page takes some thirty times its size
# Fonts are disguised to keep their licence, which hides no text (EPUB Open Container Format, obfuscation).
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def read_epub(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of an e-book.

    Raises:
        ReadingError: `encrypted` (copy protection), `broken`, `too_large`, `empty`.
    """
    with open_archive(path, source, _KIND) as archive:
        book = _EbookText(archive, source)
        blocks = tuple(book.blocks())
    facts = {
        "format": "epub",
        "author": ", ".join(book.dublin_core("creator")),
        "language": "".join(book.dublin_core("language")[:1]),
    }
    title = declared_title(next(iter(book.dublin_core("title")), "")) or path.stem
    yield one_document(source, path, blocks, facts, title, book.notes(), hint="Its pages may be pictures.")


class _EbookText:
    """The chapters of one book; counts what is left out."""

    def __init__(self, archive: Archive, source: str) -> None:
        self._archive = archive
        self._source = source
        main = _main_part(archive, source)
        self._folder = posixpath.dirname(main)
        self._root = archive.xml(main)
        self._visible = Visible()
        self._missing = 0

    def dublin_core(self, name: str) -> list[str]:
        """Return what the book says of itself under a name of the Dublin Core."""
        holder = self._root.find("{*}metadata")
        elements = [] if holder is None else [element for element in holder.iter() if local_name(element) == name]
        return [text for text in (squeeze(element.text or "") for element in elements) if text]

    def blocks(self) -> Iterator[Block]:
        items = {item.get("id", ""): item for item in self._root.iterfind("{*}manifest/{*}item")}
        spine = [items.get(each.get("idref", "")) for each in self._root.iterfind("{*}spine/{*}itemref")]
        chapters = [self._part(item) for item in spine if item is not None and "html" in item.get("media-type", "")]
        self._missing = sum(chapter not in self._archive.names for chapter in chapters) + spine.count(None)
        self._refuse_protected(chapters)
        entries = self._entries(list(items.values()))
        path: HeadingPath = ()
        # Once each: a spine may name a chapter twice.
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
        yield from self._visible.notes()

    def _part(self, item: Element) -> str:
        return place(self._folder, item.get("href", ""))[0]

    def _entries(self, items: Sequence[Element]) -> list[TocEntry]:
        for item in items:
            part = self._part(item)
            if "nav" in item.get("properties", "").split() and part in self._archive.names:
                soup = parse_html(self._archive.read(part, _LONGEST_CHAPTER), self._source)
                entries = entries_of_nav(soup, posixpath.dirname(part))
                if entries:
                    return entries
        # A book of version 3 may bring the older list as well, for older programs.
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
                raise password_error(self._source, hint=COPY_HINT)


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


_HEADING = re.compile(r"h[1-6]")
_LONGEST_TITLE = 200
_NEAR = 8  # tags after an anchor in which its heading may follow
_MOST_ENTRIES = 10_000  # bounds the work that a forged table of contents causes


@dataclass(frozen=True, slots=True)
class TocEntry:
    """One line of a table of contents.

    Attributes:
        part: The chapter's name in the archive.
        anchor: The id of the place in it; empty for its beginning.
        title: What the line says.
        depth: 1 for the outermost lines.
    """

    part: str
    anchor: str
    title: str
    depth: int


def place(folder: str, reference: str) -> tuple[str, str]:
    """Return the part of the archive and the anchor in it that a reference from a folder stands for."""
    path, _, anchor = reference.partition("#")
    return posixpath.normpath(posixpath.join("/", folder, unquote(path))).lstrip("/"), unquote(anchor)


def entries_of_nav(soup: BeautifulSoup, folder: str) -> list[TocEntry]:
    """Return the lines of an EPUB 3 navigation page."""
    navs = [nav for nav in soup.find_all("nav") if "toc" in str(nav.get("epub:type", "")).split()]
    links = (link for nav in navs[:1] for link in nav.find_all("a", href=True, limit=_MOST_ENTRIES))
    found = (
        TocEntry(*place(folder, str(link["href"])), _title(link.get_text()), len(link.find_parents("ol")))
        for link in links
    )
    return [entry for entry in found if entry.title]


def entries_of_ncx(root: Element, folder: str) -> list[TocEntry]:
    """Return the lines of an EPUB 2 navigation file."""
    return list(islice(_points(root, folder), _MOST_ENTRIES))


def set_headings(soup: BeautifulSoup, entries: Sequence[TocEntry]) -> None:
    """Give a chapter the headings that the table of contents says it has, at the depth it says.

    A heading of the chapter's own at that place takes the depth; a paragraph with the same words becomes a heading;
    where there is neither, one is put there.
    """
    # From the end, so that of two places with one id the first counts.
    anchors = {str(tag["id"]): tag for tag in reversed(soup.find_all(id=True))} if entries else {}
    claimed: set[int] = set()
    for entry in entries:
        anchor = anchors.get(entry.anchor) if entry.anchor else soup.body
        if anchor is None:
            continue
        # A heading that another line of the contents has taken is not free: a part would lose its title to a chapter.
        near = [tag for tag in _tags_near(anchor) if id(tag) not in claimed]
        heading = next((tag for tag in near if _HEADING.fullmatch(tag.name)), None) or _tag_with_words(
            near, entry.title
        )
        if heading is None:
            heading = soup.new_tag("p")
            heading.string = entry.title
            _insert_heading(heading, anchor)
        heading.name = f"h{min(entry.depth, 6)}"
        claimed.add(id(heading))


def _points(root: Element, folder: str) -> Iterator[TocEntry]:
    for point in root.iter("{*}navPoint"):
        content = point.find("{*}content")
        title = _title(point.findtext("{*}navLabel/{*}text") or "")
        if content is not None and title:
            depth = 1 + sum(local_name(ancestor) == "navPoint" for ancestor in point.iterancestors())
            yield TocEntry(*place(folder, content.get("src", "")), title, depth)


def _title(text: str) -> str:
    return squeeze(text)[:_LONGEST_TITLE].strip()


def _tags_near(anchor: Tag) -> Iterator[Tag]:
    """Yield what an anchor stands in, itself, and the tags after it."""
    if anchor.name != "body":
        yield from (tag for tag in islice(anchor.parents, 3) if tag.name != "body")
        yield anchor
    yield from (tag for tag in islice(anchor.next_elements, 4 * _NEAR) if isinstance(tag, Tag))


def _tag_with_words(near: Sequence[Tag], title: str) -> Tag | None:
    """Return the tag that has just these words and no block of text inside."""
    wanted = title.casefold()
    blocks = (tag for tag in near if tag.name in BLOCKS and not tag.find(list(BLOCKS)))
    return next((tag for tag in blocks if _first_words(tag, len(title)).casefold() == wanted), None)


def _first_words(tag: Tag, length: int) -> str:
    """Return the words of a tag, or the first of them when they are more than the length asked for."""
    text = ""
    for string in tag.strings:
        text += string
        if len(text) > 2 * length + _LONGEST_TITLE:
            break
    return squeeze(text)


def _insert_heading(heading: Tag, anchor: Tag) -> None:
    """Insert a heading before the block that the anchor is or stands in."""
    if anchor.name == "body":
        anchor.insert(0, heading)
        return
    blocks = (tag for tag in (anchor, *anchor.parents) if tag.name in BLOCKS - {"html", "body"})
    next(blocks, anchor).insert_before(heading)
