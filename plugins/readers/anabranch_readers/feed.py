"""Read XML: news feeds (RSS, Atom) entry by entry, site maps as lists of addresses, anything else as it stands."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from anabranch.readers.document import PLAIN, Block, Document, Failure, ReadOptions
from anabranch.readers.document_parts import one_document
from anabranch.readers.html import page_blocks, parse_html
from anabranch.readers.inert_xml import Element, local_name, parse_xml
from anabranch.readers.size_limit import limited
from anabranch.readers.visible_nodes import Visible
from anabranch.text.normalization import clean, squeeze
from anabranch_readers.code import read_code

_FEEDS = frozenset({"rss", "feed", "RDF"})
_MAPS = frozenset({"urlset", "sitemapindex"})
_ENTRIES = frozenset({"item", "entry"})
# The fuller one first: many feeds have both.
_TEXTS = ("encoded", "content", "description", "summary")
_DATES = ("published", "pubDate", "date", "updated")


@limited(1 << 25)
def read_xml(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document | Failure]:
    """Yield a document for each entry of a feed, called by its id; the one of a site map, or of another file.

    Addresses in it are not fetched.

    Raises:
        ReadingError: `empty`, `broken` (binary data) or `encoding`.
    """
    try:
        root: Element = parse_xml(path.read_bytes())
    except etree.XMLSyntaxError:  # templates and fragments are called so, too
        yield from read_code(path, source, options)
        return
    kind = local_name(root)
    if kind in _FEEDS and (entries := [each for each in root.iter() if local_name(each) in _ENTRIES]):
        yield from _documents(entries, source, _child(root, "title") or _child(root.find("{*}channel"), "title"))
    elif kind in _MAPS:
        yield one_document(source, path, map(Block, _addresses(root)), {"format": "sitemap"})
    else:
        yield from read_code(path, source, options)


def _documents(entries: list[Element], source: str, feed: str) -> Iterator[Document | Failure]:
    seen: set[str] = set()
    for number, entry in enumerate(entries, start=1):
        link = _link(entry)
        key = next(filter(None, (_child(entry, "guid"), _child(entry, "id"), link)), str(number))
        key = f"{key}.{number}" if key in seen else key
        seen.add(key)
        title = squeeze(_plain(_child(entry, "title"))) or key
        facts = {"format": "feed", "feed": feed, "url": link, "date": _date(entry), "author": _author(entry)}
        blocks, notes = _text(entry, source)
        if not blocks and title == key:
            yield Failure(f"{source}#{key}", "empty", "the entry has no text")
            continue
        metadata = {name: value for name, value in facts.items() if value}
        named = f"{source}#{key}"
        yield Document(
            named, title, (Block(title, None, (title,), is_heading=True), *blocks), metadata, key=named, notes=notes
        )


def _text(entry: Element, source: str) -> tuple[tuple[Block, ...], tuple[str, ...]]:
    markup = next(filter(None, (_markup(entry, name) for name in _TEXTS)), "")
    if not markup.strip():
        return (), ()
    visible = Visible()
    title = squeeze(_plain(_child(entry, "title")))
    blocks = page_blocks(parse_html(markup, source), visible, ((1, title),) if title else ())[0]
    return blocks, tuple(visible.notes())


def _markup(entry: Element, name: str) -> str:
    found = next((each for each in entry if local_name(each) == name), None)
    if found is None:
        return ""
    # Either escaped, or as elements of its own (Atom, `type="xhtml"`).
    return "".join(str(etree.tostring(each, encoding="unicode")) for each in found) or found.text or ""


def _child(parent: Element | None, name: str) -> str:
    found = next((each for each in parent if local_name(each) == name), None) if parent is not None else None
    return squeeze(clean("".join(found.itertext()))) if found is not None else ""


def _plain(text: str) -> str:
    return str(parse_html(text, "a title").get_text()) if "<" in text or "&" in text else text


def _link(entry: Element) -> str:
    for each in entry:
        if local_name(each) == "link" and each.get("rel", "alternate") == "alternate":
            return squeeze(each.get("href") or each.text or "")
    return ""


def _author(entry: Element) -> str:
    for name in ("author", "creator"):
        for each in (each for each in entry if local_name(each) == name):
            return _child(each, "name") or squeeze(clean("".join(each.itertext())))
    return ""


def _date(entry: Element) -> str:
    """Return when it was published, in ISO 8601; RSS writes dates as e-mail does."""
    said = next(filter(None, (_child(entry, name) for name in _DATES)), "")
    try:
        return parsedate_to_datetime(said).astimezone(UTC).isoformat()
    except (ValueError, TypeError, OverflowError):
        return said


def _addresses(root: Element) -> Iterator[str]:
    for each in root:
        address, changed = _child(each, "loc"), _child(each, "lastmod")
        if address:
            yield f"{address} ({changed})" if changed else address
