"""The pages in a site's own list: the sitemaps protocol, https://www.sitemaps.org/protocol.html."""

from __future__ import annotations

import tempfile
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpcore
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from anabranch.errors import ReadingError, UserError
from anabranch.ingestion.archives.decompression import open_unpacked
from anabranch.readers.inert_xml import local_name, parse_xml
from anabranch_sources.web.fetcher import FetchedPage, Fetcher

MOST_FILES = 50
"""Most sitemaps of a site that are read; an index may name 50,000."""
MOST_BYTES = 50 << 20
"""Most bytes of an unpacked sitemap; the protocol allows no more."""


def listed_pages(sitemaps: Sequence[str], fetcher: Fetcher) -> Iterator[str]:
    """Yield the addresses in sitemaps and in those of an index; unreadable sitemaps are skipped."""
    due, seen = deque(sitemaps), set(sitemaps)
    for _ in range(MOST_FILES):
        if not due:
            return
        for is_index, address in _entries(due.popleft(), fetcher):
            if not is_index:
                yield address
            elif address not in seen:
                seen.add(address)
                due.append(address)


def _entries(address: str, fetcher: Fetcher) -> list[tuple[bool, str]]:
    """Return the addresses in a sitemap, each with whether it is that of another sitemap."""
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        try:
            return _locations(_content(fetcher.page(address, Path(folder), extension=".xml")))
        # A sitemap is optional: without it, only links are followed.
        except (ReadingError, UserError, OSError, EOFError, zlib.error, etree.XMLSyntaxError, httpcore.ReadTimeout):
            return []


def _content(page: FetchedPage) -> bytes:
    with page.path.open("rb") as sent:
        packing = "gz" if sent.read(2) == b"\x1f\x8b" else ""
    # Within the deadline of the page; the file itself is packed, which `Fetcher` does not unpack.
    with open_unpacked(page.path, packing, page.deadline.check) as file:
        return file.read(MOST_BYTES)


def _locations(data: bytes) -> list[tuple[bool, str]]:
    root = parse_xml(data)
    is_index = local_name(root) == "sitemapindex"
    return [(is_index, (place.text or "").strip()) for place in root.iterfind("{*}*/{*}loc")]
