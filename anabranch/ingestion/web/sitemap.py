"""The pages that a site lists of itself: the sitemaps protocol, https://www.sitemaps.org/protocol.html."""

from __future__ import annotations

import gzip
import tempfile
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from anabranch.errors import ReadingError, UserError
from anabranch.ingestion.web.fetcher import Fetcher
from anabranch.readers.zip_container import local, parsed

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
            path = fetcher.page(address, Path(folder), extension=".xml").path
            return _locations(_unpacked(path))
        # A list of pages is a help and not what was asked for: without it, the links are followed.
        except (ReadingError, UserError, OSError, EOFError, zlib.error, etree.XMLSyntaxError):
            return []


def _unpacked(path: Path) -> bytes:
    with path.open("rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    with gzip.open(path) if is_packed else path.open("rb") as file:
        return file.read(MOST_BYTES)


def _locations(data: bytes) -> list[tuple[bool, str]]:
    root = parsed(data)
    is_index = local(root) == "sitemapindex"
    return [(is_index, (place.text or "").strip()) for place in root.iterfind("{*}*/{*}loc")]
