"""The pages that a site lists of itself: the sitemaps protocol, https://www.sitemaps.org/protocol.html."""

from __future__ import annotations

import tempfile
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpcore
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from anabranch.errors import ReadingError, UserError
from anabranch.ingestion.archives.decompression import unpacked
from anabranch.readers.inert_xml import local, parsed
from anabranch_sources.web.fetcher import FetchedPage, Fetcher

MOST_FILES = 50
"""Sitemaps of one site that are read; an index may name 50,000."""
MOST_BYTES = 50 << 20
"""Of one sitemap when it is unpacked; the protocol allows no more."""


def listed_pages(sitemaps: Sequence[str], fetcher: Fetcher) -> Iterator[str]:
    """Yield the addresses in sitemaps, and in those that an index names; one that cannot be read has none."""
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
        # A list of pages is a help and not what was asked for: without it, the links are followed.
        except (ReadingError, UserError, OSError, EOFError, zlib.error, etree.XMLSyntaxError, httpcore.ReadTimeout):
            return []


def _content(page: FetchedPage) -> bytes:
    with page.path.open("rb") as sent:
        packing = "gz" if sent.read(2) == b"\x1f\x8b" else ""
    # Within the time of the page: its packing is the site's own, and not what `Fetcher` unpacks.
    with unpacked(page.path, packing, page.deadline.check) as file:
        return file.read(MOST_BYTES)


def _locations(data: bytes) -> list[tuple[bool, str]]:
    root = parsed(data)
    is_index = local(root) == "sitemapindex"
    return [(is_index, (place.text or "").strip()) for place in root.iterfind("{*}*/{*}loc")]
