"""Crawl one site, breadth first, one request at a time, as its robots.txt allows."""

from __future__ import annotations

import mimetypes
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import httpx

from anabranch.errors import ReadingError, UserError
from anabranch.ingestion.crawl_limits import CrawlLimits
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.readers import READERS
from anabranch.readers.document import Failure
from anabranch_sources.web.content_type import EXTENSIONS
from anabranch_sources.web.fetcher import ElsewhereError, FetchedPage, Fetcher
from anabranch_sources.web.page_links import PageLinks, links_of
from anabranch_sources.web.robots_txt import Robots, robots_of
from anabranch_sources.web.sitemap import listed_pages
from anabranch_sources.web.ssrf_guard import parse_address

HTML = frozenset({".html", ".xhtml"})


class Crawler:
    """Crawls one site."""

    def __init__(self, fetcher: Fetcher, limits: CrawlLimits, *, sleep: Callable[[float], None] = time.sleep) -> None:
        """Take the fetcher, the limits, and the function that waits."""
        self._fetcher = fetcher
        self._limits = limits
        self._sleep = sleep

    def pages(self, start: str, folder: Path) -> Iterator[FoundFile | Failure]:
        """Yield the pages of the site, the first one first, and a failure for each that cannot be fetched.

        A page belongs to the site if it has the host of the first page, after redirects, and lies in its folder: a
        crawl of `https://example.org/docs/` stays below `/docs/`.

        Args:
            start: Address of the first page.
            folder: The folder for files, each in its own subfolder.
        """
        try:
            first = _fetch(self._fetcher, start, folder)
        except ReadingError as error:
            yield Failure(start, error.reason, str(error))
            return
        # Links on a public page must not lead into the local network, whatever a name resolves to later.
        fetcher = self._fetcher.public_only() if first.is_public else self._fetcher
        robots = robots_of(first.address, fetcher)
        if not robots.allow(first.address):
            _forget(first)
            yield Failure(start, "refused", "The site's robots.txt does not allow it, or could not be read.")
            return
        yield from _Site(fetcher, robots, start, first, self._limits, self._sleep).pages(folder)


class _Site:
    """The state of a crawl: the addresses to fetch, and those that are known."""

    def __init__(
        self,
        fetcher: Fetcher,
        robots: Robots,
        start: str,
        first: FetchedPage,
        limits: CrawlLimits,
        sleep: Callable[[float], None],
    ) -> None:
        self._fetcher = fetcher
        self._robots = robots
        self._start = start
        self._first = first
        self._limits = limits
        self._sleep = sleep
        self._origin, self._top = _place(first.address)
        self._due: deque[tuple[str, int]] = deque()
        self._seen = {start, first.address}

    def pages(self, folder: Path) -> Iterator[FoundFile | Failure]:
        yield from self._take(self._first, self._start, 0)
        sitemaps = [*self._robots.sitemaps] or [str(httpx.URL(self._first.address).join("/sitemap.xml"))]
        # Limited, because a site may list a million pages.
        self._note(islice(listed_pages(sitemaps, self._fetcher), 100 * self._limits.pages), 1)
        count = 1
        while self._due and count < self._limits.pages:
            address, depth = self._due.popleft()
            self._sleep(self._robots.pause(self._limits.pause))
            try:
                page = _fetch(self._fetcher, address, folder, self._is_here)
            except ElsewhereError:
                continue  # a link that redirects out of the site
            except ReadingError as error:
                count += 1
                yield Failure(address, error.reason, str(error))
                continue
            count += 1
            if page.address != address and page.address in self._seen:
                _forget(page)  # the same page under another address
                continue
            self._seen.add(page.address)
            yield from self._take(page, page.address, depth)
        if self._due:
            msg = f"{count} pages were fetched, {len(self._due)} more are known; raise --crawl-pages to fetch more."
            yield Failure(f"{self._start} (further pages)", "limit", msg)

    def _take(self, page: FetchedPage, address: str, depth: int) -> Iterator[FoundFile]:
        # Read before the page is yielded, because the consumer deletes it.
        links = links_of(page.path, page.address) if page.path.suffix in HTML else PageLinks()
        self._note(links.addresses, depth + 1)
        if links.is_indexed:
            yield FoundFile(page.path, address, identity=address, is_copy=True, metadata={"url": address})
        else:
            _forget(page)

    def _note(self, addresses: Iterator[str] | tuple[str, ...], depth: int) -> None:
        if depth > self._limits.depth:
            return
        for address in addresses:
            if address not in self._seen and self._is_here(address) and _may_be_read(address):
                self._seen.add(address)
                self._due.append((address, depth))

    def _is_here(self, address: str) -> bool:
        try:
            url = parse_address(address)
        except UserError:
            return False
        origin, _ = _place(str(url))
        return origin == self._origin and url.path.startswith(self._top) and self._robots.allow(str(url))


def _fetch(fetcher: Fetcher, address: str, folder: Path, within: Callable[[str], bool] | None = None) -> FetchedPage:
    own = Path(tempfile.mkdtemp(dir=folder))
    try:
        return fetcher.page(address, own, within=within)
    except ReadingError:
        # Partial files are removed: a crawl of pages that are too large would fill the disk.
        shutil.rmtree(own, ignore_errors=True)
        raise


def _place(address: str) -> tuple[tuple[str, str, int | None], str]:
    """Return scheme, host and port of an address, and its folder."""
    url = httpx.URL(address)
    return (url.scheme, url.host, url.port), url.path[: url.path.rindex("/") + 1]


def _may_be_read(address: str) -> bool:
    """Tell by its extension whether an address may have text; without an extension it may."""
    ending = PurePosixPath(unquote(httpx.URL(address).path)).suffix.lower()
    kind = mimetypes.guess_type(f"a{ending}")[0]
    # OCR could read pictures, but those on pages seldom contain text.
    is_picture = kind is not None and kind.startswith("image/")
    return kind is None or (not is_picture and (ending in READERS or kind in EXTENSIONS))


def _forget(page: FetchedPage) -> None:
    page.path.unlink(missing_ok=True)
    with suppress(OSError):
        page.path.parent.rmdir()
