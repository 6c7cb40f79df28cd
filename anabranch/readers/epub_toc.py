"""The table of contents of an e-book, and the headings that its chapters have because of it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag

from anabranch.readers.visible_dom import BLOCKS
from anabranch.readers.zip_container import Element, local
from anabranch.text.normalization import squeeze

_HEADING = re.compile(r"h[1-6]")
_LONGEST_TITLE = 200
_NEAR = 8
_MOST_ENTRIES = 10_000


@dataclass(frozen=True, slots=True)
class Entry:
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


def entries_of_nav(soup: BeautifulSoup, folder: str) -> list[Entry]:
    """Return the lines of an EPUB 3 navigation page."""
    navs = [nav for nav in soup.find_all("nav") if "toc" in str(nav.get("epub:type", "")).split()]
    links = (link for nav in navs[:1] for link in nav.find_all("a", href=True, limit=_MOST_ENTRIES))
    found = (
        Entry(*place(folder, str(link["href"])), _title(link.get_text()), len(link.find_parents("ol")))
        for link in links
    )
    return [entry for entry in found if entry.title]


def entries_of_ncx(root: Element, folder: str) -> list[Entry]:
    """Return the lines of an EPUB 2 navigation file."""
    return list(islice(_points(root, folder), _MOST_ENTRIES))


def set_headings(soup: BeautifulSoup, entries: Sequence[Entry]) -> None:
    """Give a chapter the headings that the table of contents says it has, at the depth it says.

    A heading of the chapter's own at that place takes the depth; a paragraph with the same words becomes a heading;
    where there is neither, one is put there.
    """
    anchors = {str(tag["id"]): tag for tag in reversed(soup.find_all(id=True))} if entries else {}
    claimed: set[int] = set()
    for entry in entries:
        anchor = anchors.get(entry.anchor) if entry.anchor else soup.body
        if anchor is None:
            continue
        near = [tag for tag in _near(anchor) if id(tag) not in claimed]
        heading = next((tag for tag in near if _HEADING.fullmatch(tag.name)), None) or _worded(near, entry.title)
        if heading is None:
            heading = soup.new_tag("p")
            heading.string = entry.title
            _put(heading, anchor)
        heading.name = f"h{min(entry.depth, 6)}"
        claimed.add(id(heading))


def _points(root: Element, folder: str) -> Iterator[Entry]:
    for point in root.iter("{*}navPoint"):
        content = point.find("{*}content")
        title = _title(point.findtext("{*}navLabel/{*}text") or "")
        if content is not None and title:
            depth = 1 + sum(local(ancestor) == "navPoint" for ancestor in point.iterancestors())
            yield Entry(*place(folder, content.get("src", "")), title, depth)


def _title(text: str) -> str:
    return squeeze(text)[:_LONGEST_TITLE].strip()


def _near(anchor: Tag) -> Iterator[Tag]:
    """Yield what an anchor stands in, itself, and the tags after it."""
    if anchor.name != "body":
        yield from (tag for tag in islice(anchor.parents, 3) if tag.name != "body")
        yield anchor
    yield from (tag for tag in islice(anchor.next_elements, 4 * _NEAR) if isinstance(tag, Tag))


def _worded(near: Sequence[Tag], title: str) -> Tag | None:
    """Return the tag that has just these words and no block of text inside."""
    wanted = title.casefold()
    blocks = (tag for tag in near if tag.name in BLOCKS and not tag.find(list(BLOCKS)))
    return next((tag for tag in blocks if _opening(tag, len(title)).casefold() == wanted), None)


def _opening(tag: Tag, length: int) -> str:
    """Return the words of a tag, or the first of them when they are more than the length asked for."""
    text = ""
    for string in tag.strings:
        text += string
        if len(text) > 2 * length + _LONGEST_TITLE:
            break
    return squeeze(text)


def _put(heading: Tag, anchor: Tag) -> None:
    """Insert a heading before the block that the anchor is or stands in."""
    if anchor.name == "body":
        anchor.insert(0, heading)
        return
    blocks = (tag for tag in (anchor, *anchor.parents) if tag.name in BLOCKS - {"html", "body"})
    next(blocks, anchor).insert_before(heading)
